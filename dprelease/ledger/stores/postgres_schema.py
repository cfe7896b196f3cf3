"""The tables and triggers of a ledger file as Postgres has them: the same text, translated, so that there is one rule.

Writers of plain SQL run side by side in Postgres, and not in SQLite. So every trigger takes the first entry before it
looks, and refuses transactions whose picture is older than that lock. A statement that names a table which somebody
makes the parent of a ledger's meets the triggers of its rows alone. Functions name their search path: a table of
the same name that somebody makes for a session is not asked.
"""

from __future__ import annotations

import re

from dprelease.ledger.schema import CHECKS, NAMES, TABLES, VERSION

KNOWN = f"a ledger of dpscope, schema {VERSION}"
"""The comment on the schema of a data set."""
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
    """Plain SQL of a ledger file as Postgres has it."""
    for ours, theirs in WORDS:
        text = re.sub(ours, theirs, text)
    return text


def script(schema: str) -> str:
    """Makes the tables and triggers in a schema that is there and on the search path, inside somebody's transaction."""
    checks = (each.groupdict() for each in TRIGGER.finditer(translated(CHECKS)))
    return "".join(
        [
            translated(TABLES),
            NEVER.format(schema=schema),
            *(NEVER_OF.format(table=table) for table in NAMES),
            *(FUNCTION.format(schema=schema, **each) for each in checks),
            f"COMMENT ON SCHEMA {schema} IS '{KNOWN}';",
        ]
    )
