"""What a module that calls a model does around its prompts: read from the standard parser's tree, by following the
arguments of the call backwards through names, helpers and loops of the same module."""
