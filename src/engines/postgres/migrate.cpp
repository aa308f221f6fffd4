#include "engines/postgres/migrate.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engines/postgres/schema.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::postgres {

namespace {

/// Each takes the tables from the version before to the next.
const std::array steps = {schema_1, schema_2, schema_3, schema_transactions,
                          schema_5, schema_6, schema_7, schema_8};
static_assert(std::tuple_size_v<decltype(steps)> == schema_version);

/// Of the advisory lock that only one who migrates has.
constexpr std::int64_t migration_lock = 0x686f6c6466617374;

/// Asked first: "if not exists" needs the right to create even if it is there.
bool has_schema(Connection& db, const std::string& schema) {
  return db.run("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema).next();
}

/// What somebody needs who only uses the tables.
void expect_not_newer(int version, const Address& address) {
  if (version <= schema_version) return;
  throw StoreUnusable{fmt::format(
      "the tables in schema {} of {} are of version {}, and this program knows {} at most; use a "
      "newer one",
      address.schema, address.name, version, schema_version)};
}

/// Comments end with their line, so what is in them does not matter.
std::string without_comments(std::string_view sql) {
  std::string text;
  while (!sql.empty()) {
    auto end = std::min(sql.find('\n'), sql.size() - 1);
    auto line = sql.substr(0, end + 1);
    sql.remove_prefix(end + 1);
    auto comment = line.find("--");
    text += line.substr(0, comment);
    if (comment != line.npos) text += '\n';
  }
  return text;
}

void run_steps(Connection& db, const Address& address, Migrated& migrated) {
  db.queue("BEGIN");
  db.run("SELECT pg_advisory_xact_lock($1)", migration_lock);
  migrated.before = version_of(db, address);
  expect_not_newer(migrated.before, address);
  if (migrated.before == 0 && !has_schema(db, address.schema))
    db.run_once(fmt::format("CREATE SCHEMA \"{}\"", address.schema));
  for (auto step = migrated.before; step < schema_version; ++step)
    db.execute(without_comments(steps[static_cast<std::size_t>(step)]));
  db.run(
      "INSERT INTO hf.meta (key, value) VALUES ('schema_version', $1)"
      " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      schema_version);
  kill_point(KillPoint::schema_before_commit);
  db.run("COMMIT");
  kill_point(KillPoint::schema_after_commit);
}

}  // namespace

std::string needed_rights(const Address& address) {
  return fmt::format(
      "USAGE on schema {}, SELECT, INSERT, UPDATE, DELETE on all tables in it and USAGE on all "
      "sequences in it",
      address.schema);
}

/// The tables of the catalogue are asked, not `to_regclass`: within a transaction that waited for
/// another one to make the tables, that may still answer what it knew before.
int version_of(Connection& db, const Address& address) {
  auto there = db.run(
      "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
      " WHERE n.nspname = $1 AND c.relname = 'meta'",
      address.schema);
  if (!there.next()) return 0;
  auto version = db.run("SELECT value FROM hf.meta WHERE key = 'schema_version'");
  return version.next() ? version.small(0) : 0;
}

namespace {

int usable_version(Connection& db, const Address& address) {
  try {
    return version_of(db, address);
  } catch (const NotAllowed& why) {
    throw StoreUnusable{fmt::format("{}. Grant this role {}", why.what(), needed_rights(address))};
  }
}

}  // namespace

Migrated migrate(Connection& db, const Address& address) {
  Migrated migrated{usable_version(db, address)};
  expect_not_newer(migrated.before, address);
  if (migrated.before == schema_version) return migrated;
  try {
    run_steps(db, address, migrated);
  } catch (const NotAllowed& why) {
    db.run("ROLLBACK");
    throw StoreUnusable{fmt::format(
        "{}. The tables of the store are not there yet, or of an older version, and this role may "
        "not create them: run `holdfast migrate` once as a role that may, and grant this one {}",
        why.what(), needed_rights(address))};
  }
  return migrated;
}

bool has_batch_tables(Connection& db, const Address& address) {
  return db
      .run(
          "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
          " WHERE n.nspname = $1 AND c.relname = 'batchrows'",
          address.batches())
      .next();
}

void make_batch_tables(Connection& db, const Address& address) {
  if (has_batch_tables(db, address)) return;
  try {
    db.queue("BEGIN");
    db.run("SELECT pg_advisory_xact_lock($1)", migration_lock);
    if (!has_batch_tables(db, address)) {
      if (!has_schema(db, address.batches()))
        db.run_once(fmt::format("CREATE SCHEMA \"{}\"", address.batches()));
      db.execute(without_comments(batch_tables));
    }
    db.run("COMMIT");
  } catch (const NotAllowed& why) {
    db.run("ROLLBACK");
    throw StoreUnusable{fmt::format(
        "{}. The tables of batches are not in schema {} yet, and this role may not create them: "
        "`holdfast migrate --print` shows how they are made",
        why.what(), address.batches())};
  }
}

std::string migration_text(const Dialect& dialect) {
  // All or nothing, whoever runs it: some of the steps need a transaction.
  // Names mean what PostgreSQL defines, whatever others have created.
  auto text = fmt::format(
      "BEGIN;\nSET LOCAL search_path = pg_catalog, pg_temp;\nCREATE SCHEMA IF NOT EXISTS "
      "\"{}\";\n",
      dialect.address().schema);
  if (dialect.address().batches() != dialect.address().schema)
    text += fmt::format("CREATE SCHEMA IF NOT EXISTS \"{}\";\n", dialect.address().batches());
  for (auto step : steps) text += dialect.expand(step);
  text += dialect.expand(batch_tables);
  return text + dialect.expand(fmt::format(
                    "INSERT INTO hf.meta (key, value) VALUES ('schema_version', {});\nCOMMIT;\n",
                    schema_version));
}

}  // namespace holdfast::postgres
