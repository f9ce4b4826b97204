"""The tests: one folder per room, one file per behaviour; names read as sentences."""
