"""sbert inside other libraries: one module for each, which nothing else imports."""
