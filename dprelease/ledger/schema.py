"""Tables of entries and payloads of a ledger file, and their triggers.

The triggers prevent that plain SQL changes, removes, replaces or overspends anything; the chain of digests reveals
anything else that it can write (``checks``).
"""

from __future__ import annotations

VERSION = 3
"""PRAGMA user_version of the file."""
APPLICATION = 0x64707363
"""PRAGMA application_id: "dpsc"."""

TABLES = """
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('registered', 'version', 'budget', 'attempt', 'stored', 'failed',
                                       'machine failed', 'published', 'access', 'restored')),
    about INTEGER NOT NULL CHECK (about >= 0),
    first_nano INTEGER NOT NULL CHECK (first_nano >= 0),
    delta_atto INTEGER NOT NULL CHECK (delta_atto BETWEEN 0 AND 999999999999999999),
    body TEXT NOT NULL, salt TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL
) STRICT;
CREATE TABLE payloads (digest TEXT PRIMARY KEY, contents BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE VIEW begun AS SELECT * FROM entries WHERE kind = 'attempt'
    AND seq NOT IN (SELECT about FROM entries WHERE kind IN ('stored', 'failed', 'machine failed'));
CREATE VIEW spent AS
    SELECT (SELECT coalesce(sum(first_nano), 0) FROM entries WHERE kind IN ('stored', 'failed'))
               + (SELECT coalesce(sum(first_nano), 0) FROM begun) AS first_nano,
           (SELECT coalesce(sum(delta_atto), 0) FROM entries WHERE kind IN ('stored', 'failed'))
               + (SELECT coalesce(sum(delta_atto), 0) FROM begun) AS delta_atto;
CREATE VIEW allowed AS
    SELECT coalesce((SELECT first_nano FROM entries WHERE kind = 'budget' ORDER BY seq DESC LIMIT 1), 0) AS first_nano,
           coalesce((SELECT delta_atto FROM entries WHERE kind = 'budget' ORDER BY seq DESC LIMIT 1), 0) AS delta_atto;
"""
"""``about`` is the attempt of an outcome and the stored entry of a publication; of a copy put back, how many failures
of a machine the copy had forgotten; else 0. An attempt's amounts are held until its outcome is there; an outcome's are
charged; a budget's are allowed from then on."""

NEVER = """
CREATE TRIGGER {table}_never_change BEFORE UPDATE ON {table}
    BEGIN SELECT raise(ABORT, 'a ledger is never changed'); END;
CREATE TRIGGER {table}_never_go BEFORE DELETE ON {table}
    BEGIN SELECT raise(ABORT, 'a ledger is never shortened'); END;
"""
NAMES = ("entries", "payloads")

CHECKS = """
CREATE TRIGGER in_order BEFORE INSERT ON entries
    WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)
      OR NEW.seq > 1 AND NEW.previous IS NOT (SELECT digest FROM entries ORDER BY seq DESC LIMIT 1)
      OR (NEW.kind = 'registered') <> (NEW.seq = 1)
    BEGIN SELECT raise(ABORT, 'an entry follows the one before it'); END;
CREATE TRIGGER within_budget BEFORE INSERT ON entries
    WHEN NEW.kind = 'attempt'
         AND (NEW.first_nano = 0
              OR NEW.first_nano > (SELECT first_nano FROM allowed) - (SELECT first_nano FROM spent)
              OR NEW.delta_atto > (SELECT delta_atto FROM allowed) - (SELECT delta_atto FROM spent))
      OR NEW.kind = 'budget'
         AND (NEW.first_nano < (SELECT first_nano FROM spent) OR NEW.delta_atto < (SELECT delta_atto FROM spent)
              OR NEW.first_nano = 0)
      OR NEW.kind IN ('stored', 'failed', 'machine failed')
         AND NOT EXISTS (
             SELECT 1 FROM begun WHERE begun.seq = NEW.about
             AND (NEW.kind = 'machine failed' AND NEW.first_nano = 0 AND NEW.delta_atto = 0
                  OR NEW.kind <> 'machine failed' AND NEW.first_nano = begun.first_nano
                     AND NEW.delta_atto = begun.delta_atto))
      OR NEW.kind = 'published'
         AND (NOT EXISTS (SELECT 1 FROM entries WHERE seq = NEW.about AND kind = 'stored')
              OR EXISTS (SELECT 1 FROM entries WHERE about = NEW.about AND kind = 'published'))
      OR NEW.kind IN ('registered', 'version', 'published', 'access', 'restored')
         AND (NEW.first_nano <> 0 OR NEW.delta_atto <> 0)
    BEGIN SELECT raise(ABORT, 'an entry keeps to the budget and to what it is about'); END;
CREATE TRIGGER payload_once BEFORE INSERT ON payloads
    WHEN EXISTS (SELECT 1 FROM payloads WHERE digest = NEW.digest)
    BEGIN SELECT raise(ABORT, 'a payload is there already'); END;
"""

EARLIER_CHECKS = CHECKS.replace("(SELECT coalesce(max(seq), 0) + 1 FROM entries)", "(SELECT count(*) + 1 FROM entries)")
"""The same rules as a ledger of this schema may have them: it was begun when each entry still counted all before it."""


def script(checks: str = CHECKS) -> str:
    """Return SQL that turns an empty file into a ledger in one transaction; one per statement would sync a dozen times.

    Args:
        checks: the rules for new entries, also EARLIER_CHECKS to compare an older file with.
    """
    return "\n".join(
        [
            "BEGIN;",
            TABLES,
            *(NEVER.format(table=table) for table in NAMES),
            checks,
            f"PRAGMA application_id = {APPLICATION};",
            f"PRAGMA user_version = {VERSION};",
            "COMMIT;",
        ]
    )
