"""Lower bounds for private mechanisms, as numbers with witnesses."""
