"""Tables and triggers of a ledger for Postgres, translated from those of a file, so that both follow one definition.

Writers run concurrently in Postgres, but not in SQLite. So every trigger locks the first entry before it reads, and
refuses transactions whose snapshot is older than that lock. If an attacker makes a table the parent of a ledger's
table, a statement on the parent only fires the row triggers of the ledger's table. Functions fix their search path, so
that a temporary table of the same name is not used.
"""

from __future__ import annotations

import re

from dprelease.ledger.schema import CHECKS, NAMES, TABLES, VERSION

KNOWN = f"a ledger of dpscope, schema {VERSION}"
"""Comment on the schema of a data set."""
WORDS = (
    (r"\bINTEGER\b", "bigint"),
    (r"\bBLOB\b", "bytea"),
    (r"\) STRICT(, WITHOUT ROWID)?;", ");"),
    (r"(coalesce\(sum\(\w+\), 0\))", r"\1::bigint"),
    (r" IS NOT \(", " IS DISTINCT FROM ("),
)
TRIGGER = re.compile(
    r"CREATE TRIGGER (?P<name>\w+) BEFORE INSERT ON (?P<table>\w+)\s+WHEN (?P<wrong>.*?)"
    r"\s+BEGIN SELECT raise\(ABORT, '(?P<why>[^']*)'\); END;",
    re.DOTALL,
)
FUNCTION = """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path = {schema}, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a ledger is written in transactions that are read committed' USING ERRCODE = '23000';
    END IF;
    PERFORM 1 FROM entries WHERE seq = 1 FOR UPDATE;
    IF {wrong} THEN
        RAISE EXCEPTION '{why}' USING ERRCODE = '23000';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER {name} BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {name}();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name};
"""
NEVER = """
CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql SET search_path = {schema}, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'a ledger is never changed or shortened' USING ERRCODE = '23000';
END $$;
"""
NEVER_OF = """
CREATE TRIGGER {table}_never BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION never();
CREATE TRIGGER {table}_no_row BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION never();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_never;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_row;
"""


def translated(text: str) -> str:
    """Translate the SQL of a ledger file to Postgres."""
    for ours, theirs in WORDS:
        text = re.sub(ours, theirs, text)
    return text


def script(schema: str, checks: str = CHECKS) -> str:
    """Return the SQL that creates the tables and triggers in an existing schema on the search path.

    Args:
        schema: name of the schema.
        checks: the rules for new entries, as a file has them.
    """
    rules = (each.groupdict() for each in TRIGGER.finditer(translated(checks)))
    return "".join(
        [
            translated(TABLES),
            NEVER.format(schema=schema),
            *(NEVER_OF.format(table=table) for table in NAMES),
            *(FUNCTION.format(schema=schema, **each) for each in rules),
            f"COMMENT ON SCHEMA {schema} IS '{KNOWN}';",
        ]
    )
