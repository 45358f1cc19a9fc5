"""The table of SDK and framework calls: which arguments are prompt text, where the bound is, what is retrieved."""
