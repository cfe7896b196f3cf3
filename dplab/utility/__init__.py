"""What synthetic rows are good for: tables, association, models, prediction, and whether they are told apart."""
