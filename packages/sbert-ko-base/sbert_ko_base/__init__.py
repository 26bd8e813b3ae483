"""The files of sbert-ko-base, a Korean model for sbert, in the folder ``model``. Nothing has to be imported."""
