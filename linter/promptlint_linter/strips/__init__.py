"""Prompts as strips to scale: what changes how often, and where a cache stops."""
