"""What happens in the server beside the runs of pages."""
