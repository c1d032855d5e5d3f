"""Reports for users: funnel, report.html, explanations, progress, and texts for reasons."""
