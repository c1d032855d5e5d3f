"""What a person sees of a run: its summary, its report pages, its progress."""
