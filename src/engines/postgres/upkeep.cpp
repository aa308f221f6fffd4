#include <holdfast/postgres.hpp>

#include "engines/postgres/engine.hpp"
#include "engines/postgres/migrate.hpp"
#include "engines/postgres/upkeep.hpp"

namespace holdfast::postgres {

Upkeep look_at_upkeep(Connection& db) {
  Upkeep upkeep;
  auto rows = db.run(
      "SELECT n_dead_tup, n_live_tup FROM pg_stat_all_tables"
      " WHERE relid = to_regclass('hf.tasks')");
  if (rows.next()) {
    upkeep.dead_rows = rows.integer(0);
    upkeep.live_rows = rows.integer(1);
  }
  // Whatever still may look at old versions: transactions of this database, and prepared ones.
  auto blockers = db.run(
      "SELECT b.pid, b.who, b.age FROM (SELECT pid::bigint, coalesce(nullif(application_name, ''),"
      " backend_type) || coalesce(' of ' || usename, '') AS who,"
      " (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint AS age"
      " FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid()"
      " AND datname = current_database()"
      " AND backend_type <> 'autovacuum worker' AND (backend_xmin IS NOT NULL OR backend_xid IS NOT"
      " NULL) UNION ALL SELECT 0, 'prepared transaction ' || gid, (extract(epoch FROM"
      " clock_timestamp() - prepared) * 1000)::bigint FROM pg_prepared_xacts"
      " WHERE database = current_database()) b"
      " WHERE b.age > 1000 ORDER BY b.age DESC LIMIT 1");
  auto rights = db.run("SELECT pg_has_role('pg_read_all_stats', 'USAGE')::int::bigint");
  upkeep.sees_others = rights.next() && rights.yes(0);
  if (blockers.next())
    upkeep.blocker = {blockers.small(0), blockers.text(1), Millis{blockers.integer(2)}};
  return upkeep;
}

std::optional<Upkeep> upkeep(const Engine& engine) {
  auto* store = find_store(engine);
  if (!store) return {};
  return store->reader.read(look_at_upkeep);
}

Migration migrate(std::string_view address) {
  Settings settings;
  auto parsed = parse_address(address, settings);
  Connection db{std::make_shared<const Dialect>(parsed, system_clock()), settings.durability,
                Connection::Purpose::steps};
  auto done = migrate(db, parsed);
  make_batch_tables(db, parsed);
  return {done.before, done.now};
}

std::string migration_text(std::string_view address) {
  Settings settings;
  return migration_text(Dialect{parse_address(address, settings), system_clock()});
}

}  // namespace holdfast::postgres
