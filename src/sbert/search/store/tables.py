"""The tables of a store in PostgreSQL: creates and checks them, and reads the facts about the store.

The embedding of a row is used only for the distances of pgvector; scores are computed from the packed vector. The
words of a text and their counts are stored as arrays, because a tsvector stores at most 256 positions of a word and
1 MB of a text. Therefore long texts fit, and BM25 has the same numbers as in SQLite. Ids are found by their hashes,
because an index does not accept long texts.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from sbert.errors import BadInput, NotWritten
from sbert.search.packing import Packing
from sbert.search.store.server import Server, imported
from sbert.search.store.store import StoreFacts, facts_from
from sbert.types import Similarity

if TYPE_CHECKING:
    import psycopg

FORMAT = 1
"""Version of the tables. A store of a later version is refused."""
MOST_DIMENSIONS = 16_000
"""Maximum number of dimensions of a vector in pgvector."""
INDEXED_DIMENSIONS = 4_000
"""Maximum number of dimensions in an HNSW index of pgvector."""
FIRST_EFFORT = 100
"""Number of candidates in the list of a search in a new HNSW index."""
_CREATE_LOCK = 0x53424552  # acquired by every process that creates a store, in any schema
_SCHEMA = """
CREATE TABLE facts (name text PRIMARY KEY, value jsonb NOT NULL);
CREATE TABLE state (
    generation bigint NOT NULL, total bigint NOT NULL, words bigint NOT NULL, longest float8 NOT NULL,
    effort integer NOT NULL, recall float8 NOT NULL
);
INSERT INTO state VALUES (0, 0, 0, 0, {effort}, 1);
CREATE TABLE rows (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL,
    id_hash bytea NOT NULL UNIQUE,
    text text NOT NULL,
    metadata jsonb NOT NULL,
    written text NOT NULL,
    vector bytea NOT NULL,
    embedding vector({dimension}) NOT NULL,
    words text[] COLLATE "C" NOT NULL,
    counts integer[] NOT NULL,
    length integer NOT NULL,
    hash bytea NOT NULL
);
ALTER TABLE rows ALTER embedding SET STORAGE MAIN, ALTER vector SET STORAGE EXTERNAL;
CREATE INDEX rows_by_hash ON rows (hash);
CREATE INDEX rows_by_word ON rows USING gin (words);
"""


class Measure(NamedTuple):
    """The distance by which pgvector compares embeddings, which have length 1 for the cosine."""

    operator: str
    """The operator that returns a distance."""
    operators: str
    """The operator class of an index."""


MEASURES: dict[Similarity, Measure] = {
    "cosine": Measure("<#>", "halfvec_ip_ops"),
    "dot": Measure("<#>", "halfvec_ip_ops"),
    "euclidean": Measure("<->", "halfvec_l2_ops"),
    "manhattan": Measure("<+>", "halfvec_l1_ops"),
}


class State(NamedTuple):
    """The numbers that change with the rows of a store."""

    generation: int
    total: int
    """Number of rows."""
    words: int
    """Number of all words in all texts."""
    longest: float
    """Upper bound of the length of all embeddings."""
    effort: int
    """Number of candidates in the list of a search in the HNSW index."""
    recall: float
    """Recall of a search in the HNSW index."""


def exists(server: Server) -> bool:
    """Return whether there is a store in the schema."""
    with server.reading() as connection:
        return _has_tables(connection, server.address.schema)


def create(server: Server, facts: StoreFacts) -> None:
    """Create the tables of a store, completely or not at all, unless they already exist."""
    if facts.dimension > MOST_DIMENSIONS:
        raise BadInput(
            f"the vectors have {facts.dimension:,} dimensions, but PostgreSQL stores at most {MOST_DIMENSIONS:,}; set "
            "truncate_dim, or use a file"
        )
    sql, schema = imported().sql, server.address.schema
    with server.writing() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s::bigint)", (_CREATE_LOCK,))
        if _has_tables(connection, schema):
            return
        _check_encoding(server, connection)
        _install(server, connection)
        if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone():
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        connection.execute(
            sql.SQL("SET LOCAL search_path TO {}").format(
                sql.SQL(", ").join(map(sql.Identifier, (schema, server.extension_schema, "pg_temp")))
            )
        )
        connection.execute(sql.SQL(_SCHEMA).format(dimension=facts.dimension, effort=FIRST_EFFORT))
        values = [(name, json.dumps(value)) for name, value in {**asdict(facts), "format": FORMAT}.items()]
        connection.cursor().executemany("INSERT INTO facts (name, value) VALUES (%s, %s::jsonb)", values)


def read_facts(server: Server) -> tuple[StoreFacts, Packing]:
    """Return the facts about a store and the packing of its vectors, and find the schema of pgvector."""
    where = server.address.shown
    with server.reading() as connection:
        if not _has_tables(connection, server.address.schema):
            raise BadInput(f"there is no store {where!r}; create one with sbert index --store {where}")
        # Without this right, PostgreSQL would search for the tables in other schemas.
        query = "SELECT has_schema_privilege(%s, 'USAGE')"
        if connection.execute(query, (server.address.schema,)).fetchone() != (True,):
            raise NotWritten(
                f"{where} does not permit this user to read it; ask its owner for the right USAGE of the schema"
            )
        values: dict[str, Any] = dict(connection.execute("SELECT name, value FROM facts").fetchall())
        if values.get("format", 0) > FORMAT:
            raise BadInput(
                f"{where!r} has format {values['format']}, but this version of sbert reads formats up to {FORMAT}; "
                "install a newer version"
            )
        _find_extension(server, connection)
    if not {field.name for field in fields(StoreFacts)} <= values.keys():
        raise BadInput(f"{where!r} has tables of another program; name another schema, as in ...#faq")
    return facts_from(values, where)


def read_state(connection: psycopg.Connection[Any]) -> State:
    """Return the current numbers of a store."""
    query = "SELECT generation, total, words, longest, effort, recall FROM state"
    (row,) = connection.execute(query, binary=True).fetchall()
    return State(*row)


def has_index(connection: psycopg.Connection[Any], schema: str) -> bool:
    """Return whether there is an HNSW index that can be used."""
    query = (
        "SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ns "
        "ON ns.oid = relnamespace WHERE relname = 'rows_by_vector' AND nspname = %s AND indisvalid"
    )
    return connection.execute(query, (schema,)).fetchone() is not None


def build_index(connection: psycopg.Connection[Any], facts: StoreFacts) -> None:
    """Build the HNSW index, and replace an existing one."""
    sql = imported().sql
    connection.execute("DROP INDEX IF EXISTS rows_by_vector")
    query = "CREATE INDEX rows_by_vector ON rows USING hnsw ((embedding::halfvec({dimension})) {operators})"
    connection.execute(
        sql.SQL(query).format(dimension=facts.dimension, operators=sql.SQL(MEASURES[facts.similarity].operators))
    )


def _has_tables(connection: psycopg.Connection[Any], schema: str) -> bool:
    query = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'facts'"
    return connection.execute(query, (schema,)).fetchone() is not None


def _check_encoding(server: Server, connection: psycopg.Connection[Any]) -> None:
    ((encoding,),) = connection.execute("SELECT current_setting('server_encoding')").fetchall()
    if encoding != "UTF8":
        raise BadInput(
            f"the database of {server.address.shown} has the encoding {encoding}, but texts need UTF8; create one "
            "with ENCODING 'UTF8'"
        )


def _install(server: Server, connection: psycopg.Connection[Any]) -> None:
    """Install pgvector in the database if it is missing."""
    driver = imported()
    if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
        try:
            connection.execute("CREATE EXTENSION vector SCHEMA public")
        except (driver.errors.FeatureNotSupported, driver.errors.UndefinedFile):
            raise BadInput(
                f"the server of {server.address.shown} does not have pgvector; install it there, or use a file"
            ) from None
        except driver.errors.InsufficientPrivilege:
            raise NotWritten(
                f"this user may not install pgvector in the database of {server.address.shown}; ask its administrator "
                "to run CREATE EXTENSION vector"
            ) from None
    _find_extension(server, connection)


def _find_extension(server: Server, connection: psycopg.Connection[Any]) -> None:
    query = "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace ns ON ns.oid = extnamespace "
    found = connection.execute(f"{query} WHERE extname = 'vector'".encode()).fetchone()
    name, version = found or ("public", "0")
    if tuple(int(part) for part in version.split(".")[:2]) < (0, 8):
        raise BadInput(
            f"the database of {server.address.shown} has version {version} of pgvector, but 0.8 or later is needed; "
            "run ALTER EXTENSION vector UPDATE there"
        )
    server.extension_schema = name
