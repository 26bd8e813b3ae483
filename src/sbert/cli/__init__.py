"""ARGV -> ONE CALL: one file per verb; the only room that prints."""
