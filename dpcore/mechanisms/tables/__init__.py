"""All tables of k attributes at once: what is counted, the noise each part gets, and consistent tables from it."""
