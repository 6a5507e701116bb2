"""One file a chapter: its pictures, its sentences and the judges of its exercises."""
