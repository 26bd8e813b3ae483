"""Makes every HTML page and chart. Takes plain records: knows no model and no files."""
