"""The support desk of a garden shop."""
