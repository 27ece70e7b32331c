"""What tensorplay promises, written as tests: one file per subject, no knowledge of its insides."""
