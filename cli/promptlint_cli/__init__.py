"""The command line: one thin file a command below `commands/`; heavy modules are imported inside the commands."""
