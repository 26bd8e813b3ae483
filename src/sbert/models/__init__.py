"""The models that users load: texts to vectors, and pairs of texts to scores."""
