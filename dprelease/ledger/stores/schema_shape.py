"""Definitions in a Postgres schema from its catalogue, for comparison with the expected ones."""

from __future__ import annotations

import secrets
from typing import Any

from dprelease.ledger.schema import CHECKS, EARLIER_CHECKS
from dprelease.ledger.stores.postgres import PostgresConnection
from dprelease.ledger.stores.postgres_schema import script

RELATIONS = "SELECT c.oid FROM pg_class c WHERE c.relnamespace = s.oid"
QUESTIONS = (
    # tables, views and indexes
    "SELECT 'relation', c.relname::text, concat(c.relkind, c.relpersistence, am.amname),"
    " concat(c.relrowsecurity, c.relforcerowsecurity, c.relispartition)"
    " FROM pg_class c LEFT JOIN pg_am am ON am.oid = c.relam WHERE c.relnamespace = s.oid",
    "SELECT 'index', i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid),"
    f" concat(i.indisvalid, i.indisready, i.indislive) FROM pg_index i WHERE i.indrelid IN ({RELATIONS})",
    "SELECT 'column', a.attrelid::regclass::text, concat(a.attnum, ' ', a.attname),"
    " concat(format_type(a.atttypid, a.atttypmod), a.attnotnull, a.atthasdef, a.attidentity, a.attgenerated,"
    " a.attisdropped, a.attcollation, pg_get_expr(d.adbin, d.adrelid))"
    " FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
    f" WHERE a.attrelid IN ({RELATIONS}) AND a.attnum > 0",
    "SELECT 'constraint', concat(o.conrelid::regclass, ' ', o.conname), pg_get_constraintdef(o.oid),"
    " concat(o.convalidated, o.condeferrable, o.condeferred) FROM pg_constraint o WHERE o.connamespace = s.oid",
    "SELECT 'function', p.proname::text, CASE WHEN p.prokind = 'f' THEN pg_get_functiondef(p.oid) ELSE 'no' END,"
    " p.prosecdef::text FROM pg_proc p WHERE p.pronamespace = s.oid",
    "SELECT 'trigger', t.tgrelid::regclass::text, CASE WHEN t.tgisinternal"
    " THEN concat(t.tgfoid::regproc, ' ', t.tgtype) ELSE pg_get_triggerdef(t.oid) END, t.tgenabled::text"
    f" FROM pg_trigger t WHERE t.tgrelid IN ({RELATIONS})",
    "SELECT 'rule', r.ev_class::regclass::text, pg_get_ruledef(r.oid), r.ev_enabled::text"
    f" FROM pg_rewrite r WHERE r.ev_class IN ({RELATIONS})",
    "SELECT 'policy', p.polrelid::regclass::text, p.polname::text, ''"
    f" FROM pg_policy p WHERE p.polrelid IN ({RELATIONS})",
    # a child's rows are read with its parent's, and no trigger of the parent's sees them; the ledger's are nobody's
    "SELECT 'child', i.inhparent::regclass::text, i.inhrelid::regclass::text, ''"
    f" FROM pg_inherits i WHERE i.inhparent IN ({RELATIONS}) OR i.inhrelid IN ({RELATIONS})",
    "SELECT 'type', t.typname::text, concat(t.typtype, t.typcategory), '' FROM pg_type t WHERE t.typnamespace = s.oid",
    "SELECT 'operator', o.oprname::text, o.oprcode::text, '' FROM pg_operator o WHERE o.oprnamespace = s.oid",
)
QUERY = "SELECT t.* FROM pg_namespace s, LATERAL ({question}) t WHERE s.nspname = '{schema}'"

ITS_NAME = "\0"
"""Placeholder of the schema's name: a character that Postgres names cannot contain."""

Shape = list[tuple[str, ...]]
_expected: dict[int, list[Shape]] = {}
"""Expected definitions by server version, as versions format definitions differently."""


def shape_of(connection: Any, schema: str) -> Shape:
    """Return all definitions of a schema on the search path, with a placeholder for its name."""
    query = " UNION ALL ".join(QUERY.format(question=question, schema=schema) for question in QUESTIONS)
    rows = connection.execute(query).fetchall()
    return sorted(tuple(each.replace(schema, ITS_NAME) for each in row) for row in rows)


def expected_shapes(address: str, ledger: str) -> list[Shape]:
    """Return the definitions of a schema that a ledger may have; each is made and rolled back.

    Cached by server version.
    """
    connection = PostgresConnection(address)
    try:
        if connection.version not in _expected:
            shapes = [_shape_made(connection, ledger, checks) for checks in (CHECKS, EARLIER_CHECKS)]
            _expected[connection.version] = shapes
        return _expected[connection.version]
    finally:
        connection.close()


def _shape_made(connection: PostgresConnection, ledger: str, checks: str) -> Shape:
    """Return the definitions that the script makes with these rules for new entries."""
    schema = f"{ledger}_{secrets.token_hex(16)}"
    connection.execute(f"BEGIN; CREATE SCHEMA {schema}; SET LOCAL search_path = {schema}, pg_temp")
    connection.execute(script(schema, checks))
    shape = shape_of(connection, schema)
    connection.execute("ROLLBACK")
    return shape
