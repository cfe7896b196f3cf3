"""dprelease: plans, requests, the ledger, releases and their certificates: what an office does once, for real."""
