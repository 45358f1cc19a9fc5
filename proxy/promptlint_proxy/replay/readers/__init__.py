"""One reader a format: a file in, recorded exchanges and the places that could not be read out."""
