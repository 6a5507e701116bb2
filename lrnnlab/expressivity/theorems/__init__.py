"""The theorems behind the predictor, one idea a module."""
