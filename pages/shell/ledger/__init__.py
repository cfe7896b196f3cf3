"""The ledger as pages see it: roles, the account of the data in use, records of access, and the budget spent."""
