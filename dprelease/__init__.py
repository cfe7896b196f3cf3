"""dprelease: plans, requests, the ledger, releases and their certificates, for private data."""
