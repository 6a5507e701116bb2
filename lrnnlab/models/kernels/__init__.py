"""Compiled passes over whole strings (numba), for paper 003's recurrences that are no scan: their gates see the state."""
