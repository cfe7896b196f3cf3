"""Pages of a private table without access to it: guaranteed errors, mock data, and the data in use on every page."""
