"""Long work and its results: the session's memory, results that all sessions share, and background jobs."""
