"""Reports for people: funnel, report.html, explain, progress, and words for reasons."""
