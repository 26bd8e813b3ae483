"""Adapters of sbert for other libraries, one module for each. No other module imports them."""
