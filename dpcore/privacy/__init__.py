"""What releases cost together: guarantees added up and converted, and exact Gaussian deltas."""
