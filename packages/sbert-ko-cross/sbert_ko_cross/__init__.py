"""The files of sbert-ko-cross, a Korean cross-encoder for sbert, in the folder ``model``. Import nothing of it."""
