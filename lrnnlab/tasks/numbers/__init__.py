"""Tasks on sequences of numbers: paper 004's atomic tasks."""
