"""All tables of k attributes at once: counts, noise of each part, and consistent tables."""
