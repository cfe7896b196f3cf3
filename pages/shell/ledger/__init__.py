"""The ledger as pages see it: the door to it, the data set that holds the data in use, and the budget_spent."""
