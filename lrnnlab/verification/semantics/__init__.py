"""What a net computes: its step as a graph of operations, bounds on their rounding, its lower layers as one finite machine."""
