"""The ledger: releases of each data set and their charges, in one SQLite file per data set or in a database."""
