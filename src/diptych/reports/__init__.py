"""Reports for users: the funnel, report.html, explanations, progress, and texts for reasons."""
