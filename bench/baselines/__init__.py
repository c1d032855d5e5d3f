"""Programs and methods that Diptych is compared with."""
