"""The sections of the report, one module each: every module turns the material into figures, tables and charts."""
