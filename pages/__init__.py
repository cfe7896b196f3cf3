"""The app: the router (`main`), and a room of modules for each topic."""

SCRIPTS = {"__main__", "main", "page"}
"""Last names of the modules that Streamlit runs as scripts; all others can be imported."""
