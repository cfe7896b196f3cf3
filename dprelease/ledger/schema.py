"""Tables of a ledger file. Triggers keep plain SQL from changing, removing, replacing or overspending anything.

But REPLACE takes a row of ``draws`` by the number that SQLite gives it; ``check`` finds that; nothing is handed out.
"""

from __future__ import annotations

VERSION = 2
"""PRAGMA user_version of the file."""
APPLICATION = 0x64707363
"""PRAGMA application_id: "dpsc"."""

TABLES = """
CREATE TABLE datasets (
    dataset_id TEXT PRIMARY KEY, name TEXT NOT NULL, relation TEXT NOT NULL, public_n INTEGER NOT NULL,
    person_column TEXT NOT NULL, rows_a_person INTEGER NOT NULL CHECK (rows_a_person >= 1),
    salt TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL,
    CHECK (relation IN ('replace_one', 'add_remove_one')),
    CHECK (person_column = '' AND rows_a_person = 1 OR person_column <> '' AND relation = 'add_remove_one')
) STRICT;
CREATE TABLE versions (
    version INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, by TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE budgets (
    budget INTEGER PRIMARY KEY, measure TEXT NOT NULL CHECK (measure IN ('sums', 'rho')),
    first_nano INTEGER NOT NULL CHECK (first_nano > 0),
    delta_atto INTEGER NOT NULL CHECK (delta_atto BETWEEN 0 AND 999999999999999999),
    reason TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE attempts (
    attempt INTEGER PRIMARY KEY, request_digest TEXT NOT NULL, request TEXT NOT NULL,
    first_nano INTEGER NOT NULL CHECK (first_nano >= 0), delta_atto INTEGER NOT NULL CHECK (delta_atto >= 0),
    by TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE charges (
    entry INTEGER PRIMARY KEY, attempt INTEGER NOT NULL UNIQUE REFERENCES attempts (attempt),
    outcome TEXT NOT NULL CHECK (outcome IN ('stored', 'failed', 'machine failed')),
    request_digest TEXT NOT NULL, first_nano INTEGER NOT NULL, delta_atto INTEGER NOT NULL,
    budget INTEGER NOT NULL REFERENCES budgets (budget), body TEXT NOT NULL, salt TEXT NOT NULL,
    previous_digest TEXT NOT NULL, record TEXT NOT NULL, entry_digest TEXT NOT NULL
) STRICT;
CREATE TABLE draws (
    entry INTEGER NOT NULL REFERENCES charges (entry), name TEXT NOT NULL, contents BLOB NOT NULL,
    PRIMARY KEY (entry, name)
) STRICT;
CREATE TABLE publications (
    entry INTEGER PRIMARY KEY REFERENCES charges (entry), by TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE events (event INTEGER PRIMARY KEY, what TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL) STRICT;
CREATE TABLE journal (
    link INTEGER PRIMARY KEY, kind TEXT NOT NULL, number INTEGER NOT NULL, salt TEXT NOT NULL,
    previous_digest TEXT NOT NULL, link_digest TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_outcome ON charges (request_digest) WHERE outcome <> 'machine failed';
CREATE UNIQUE INDEX one_machine_failure ON charges (request_digest) WHERE outcome = 'machine failed';
CREATE VIEW begun AS SELECT * FROM attempts WHERE attempt NOT IN (SELECT attempt FROM charges);
CREATE VIEW spent AS
    SELECT (SELECT coalesce(sum(first_nano), 0) FROM charges) + (SELECT coalesce(sum(first_nano), 0) FROM begun)
               AS first_nano,
           (SELECT coalesce(sum(delta_atto), 0) FROM charges) + (SELECT coalesce(sum(delta_atto), 0) FROM begun)
               AS delta_atto;
CREATE VIEW allowed AS
    SELECT coalesce(max(budget), 0) AS budget,
           coalesce((SELECT first_nano FROM budgets ORDER BY budget DESC LIMIT 1), 0) AS first_nano,
           coalesce((SELECT delta_atto FROM budgets ORDER BY budget DESC LIMIT 1), 0) AS delta_atto
    FROM budgets;
"""

NEVER = """
CREATE TRIGGER {table}_never_change BEFORE UPDATE ON {table}
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER {table}_never_go BEFORE DELETE ON {table}
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
"""
NAMES = ("datasets", "versions", "budgets", "attempts", "charges", "draws", "publications", "events", "journal")

NUMBERED = """
CREATE TRIGGER {table}_in_order BEFORE INSERT ON {table}
    WHEN NEW.{number} IS NOT (SELECT count(*) + 1 FROM {table})
    BEGIN SELECT raise(ABORT, 'entries are numbered in order'); END;
"""
"""INSERT OR REPLACE removes a row without asking the triggers that forbid it: a number that is taken is refused."""
NUMBERS = {
    "versions": "version",
    "budgets": "budget",
    "attempts": "attempt",
    "charges": "entry",
    "events": "event",
    "journal": "link",
}
KEYED = {table: number for table, number in NUMBERS.items() if table != "journal"} | {"publications": "entry"}
"""What the journal has a link of each row of, by the column that numbers it. Draws are in the bodies of charges."""

CHECKS = """
CREATE TRIGGER one_dataset BEFORE INSERT ON datasets WHEN EXISTS (SELECT 1 FROM datasets)
    BEGIN SELECT raise(ABORT, 'one file holds one data set'); END;
CREATE TRIGGER one_version BEFORE INSERT ON versions
    WHEN EXISTS (SELECT 1 FROM versions WHERE fingerprint = NEW.fingerprint)
    BEGIN SELECT raise(ABORT, 'these rows are registered'); END;
CREATE TRIGGER budget_covers BEFORE INSERT ON budgets
    WHEN NEW.first_nano < (SELECT first_nano FROM spent) OR NEW.delta_atto < (SELECT delta_atto FROM spent)
    BEGIN SELECT raise(ABORT, 'a budget covers what is spent'); END;
CREATE TRIGGER attempt_within_budget BEFORE INSERT ON attempts
    WHEN NEW.first_nano > (SELECT first_nano FROM allowed) - (SELECT first_nano FROM spent)
      OR NEW.delta_atto > (SELECT delta_atto FROM allowed) - (SELECT delta_atto FROM spent)
    BEGIN SELECT raise(ABORT, 'over budget'); END;
CREATE TRIGGER charge_of_an_attempt BEFORE INSERT ON charges
    WHEN NOT EXISTS (
        SELECT 1 FROM begun WHERE attempt = NEW.attempt AND request_digest = NEW.request_digest
        AND (NEW.outcome = 'machine failed' AND NEW.first_nano = 0 AND NEW.delta_atto = 0
             OR NEW.outcome <> 'machine failed' AND NEW.first_nano = begun.first_nano
                AND NEW.delta_atto = begun.delta_atto))
    BEGIN SELECT raise(ABORT, 'a charge is that of an attempt without an outcome'); END;
CREATE TRIGGER charge_once BEFORE INSERT ON charges
    WHEN EXISTS (SELECT 1 FROM charges WHERE request_digest = NEW.request_digest
                 AND (outcome = 'machine failed') = (NEW.outcome = 'machine failed'))
    BEGIN SELECT raise(ABORT, 'a request is charged once'); END;
CREATE TRIGGER charge_continues_the_chain BEFORE INSERT ON charges
    WHEN NEW.entry > 1 AND NEW.previous_digest IS NOT (SELECT entry_digest FROM charges ORDER BY entry DESC LIMIT 1)
      OR NEW.budget IS NOT (SELECT budget FROM allowed)
      OR NEW.record IS NOT (SELECT link_digest FROM journal ORDER BY link DESC LIMIT 1)
    BEGIN SELECT raise(ABORT, 'an entry names the one before it'); END;
CREATE TRIGGER draw_of_a_charge BEFORE INSERT ON draws
    WHEN EXISTS (SELECT 1 FROM draws WHERE entry = NEW.entry AND name = NEW.name)
      OR NEW.entry IS NOT (SELECT max(entry) FROM charges WHERE outcome = 'stored')
    BEGIN SELECT raise(ABORT, 'a draw belongs to its charge'); END;
CREATE TRIGGER link_continues_the_journal BEFORE INSERT ON journal
    WHEN EXISTS (SELECT 1 FROM journal WHERE kind = NEW.kind AND number = NEW.number)
      OR NEW.link > 1 AND NEW.previous_digest IS NOT (SELECT link_digest FROM journal ORDER BY link DESC LIMIT 1)
    BEGIN SELECT raise(ABORT, 'a link names the one before it'); END;
CREATE TRIGGER one_measure BEFORE INSERT ON budgets
    WHEN EXISTS (SELECT 1 FROM budgets WHERE measure <> NEW.measure OR measure = 'rho')
    BEGIN SELECT raise(ABORT, 'a budget keeps its measure, and in rho its size'); END;
CREATE TRIGGER publish_once BEFORE INSERT ON publications
    WHEN EXISTS (SELECT 1 FROM publications WHERE entry = NEW.entry)
      OR NOT EXISTS (SELECT 1 FROM charges WHERE entry = NEW.entry AND outcome = 'stored')
    BEGIN SELECT raise(ABORT, 'what is stored is published once'); END;
"""

TRIGGERS = "\n".join(
    [
        *(NEVER.format(table=table) for table in NAMES),
        *(NUMBERED.format(table=table, number=number) for table, number in NUMBERS.items()),
        CHECKS,
        f"PRAGMA application_id = {APPLICATION};",
        f"PRAGMA user_version = {VERSION};",
    ]
)
SCRIPT = f"BEGIN;{TABLES}{TRIGGERS}COMMIT;"
"""Makes an empty file a ledger, at once: a transaction for each table would wait for the disk forty times."""
