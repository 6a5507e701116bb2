"""What the book needs to be built, shown, graded and timed; it does not grow with the book."""
