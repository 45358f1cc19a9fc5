"""The tool itself."""
