"""What grows with the book: tables of recorded runs, pictures, chapters, exercises."""
