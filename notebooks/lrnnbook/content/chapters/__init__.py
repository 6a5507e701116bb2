"""Two files a chapter: its pictures, its sentences and the judges of its exercises; their hints and solutions, as text."""
