"""Records in; cost reports, capacity plans and simulations out."""
