"""THE PAPER'S TABLES: what Sentence-BERT is compared with."""
