"""Every HTML page and chart. Knows plain records: no models, no files."""
