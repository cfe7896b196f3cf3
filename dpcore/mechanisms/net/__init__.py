"""Small databases in place of large ones: the nets of Blum, Ligett and Roth, counted and drawn exactly."""
