"""Embeds files of any size into parquet shards; jobs resume after any interruption, on one machine or on Ray."""

from sbert.bulk.embed import embed_files
from sbert.bulk.job import Running, Settings
from sbert.bulk.verify import verify_shards

__all__ = ["Running", "Settings", "embed_files", "verify_shards"]
