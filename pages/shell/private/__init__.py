"""What a private table shows while nobody may see it: promises, a made-up twin, and the data in use on every page."""
