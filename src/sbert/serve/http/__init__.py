"""HTTP without models: routes, bodies and their limits, errors in several dialects, and the OpenAPI document."""
