#include "engines/postgres/store.hpp"

#include <fmt/format.h>

#include "engines/postgres/migrate.hpp"

namespace holdfast::postgres {

namespace {

/// What was found when the store was opened.
struct Greeting {
  std::string why_read_only{};
  std::string host_name{};  ///< what names the store on this host
  bool syncs = true;
};

Greeting open_database(const std::shared_ptr<const Dialect>& dialect, ServerClock& clock) {
  Connection db{dialect, Durability::power_safe, Connection::Purpose::steps};
  const auto& address = dialect->address();
  auto here = clock.own_wall();
  auto row = db.run(
      "SELECT current_setting('server_version_num')::bigint,"
      " current_setting('transaction_read_only') = 'on', (SELECT oid::bigint FROM pg_database"
      " WHERE datname = current_database()), (extract(epoch FROM clock_timestamp()) * "
      "1000)::bigint, current_setting('fsync') = 'on'");
  row.next();
  if (row.integer(0) < 150'000)
    throw StoreUnusable{
        fmt::format("{} is a server of version {}; version 15 is the oldest that "
                    "will do",
                    address.name, row.integer(0) / 10'000)};
  if (!dialect->manual_clock()) clock.learn(row.time(3), here);
  Greeting greeting;
  greeting.syncs = row.yes(4);
  auto system = db.server_run().substr(0, db.server_run().find('/'));
  greeting.host_name = fmt::format("postgres-{}-{}-{}", system, row.integer(2), address.schema);
  if (row.yes(1)) {
    greeting.why_read_only =
        fmt::format("{} takes no writes: it is a standby, or set read-only", address.name);
    return greeting;
  }
  migrate(db, address);
  auto rights = db.run(
      "SELECT has_table_privilege('hf.tasks', 'INSERT') AND has_table_privilege('hf.tasks',"
      " 'UPDATE') AND has_table_privilege('hf.tasks', 'DELETE')");
  if (!rights.next() || !rights.yes(0))
    greeting.why_read_only = fmt::format("this role may only look at {}. To write, it needs {}",
                                         address.name, needed_rights(address));
  return greeting;
}

}  // namespace

Store::Store(const Address& address, const Settings& settings, const Clock& a_clock,
             const Events& events)
    : dialect{std::make_shared<const Dialect>(address, a_clock)},
      clock{a_clock},
      durability{settings.durability},
      writer{dialect, durability},
      claimer{dialect, durability},
      stepper{dialect, durability},
      reader{dialect, durability},
      session{dialect, events, settings.heartbeat.lease()},
      files{""} {
  auto greeting = open_database(dialect, clock);
  why_read_only = greeting.why_read_only;
  syncs = greeting.syncs;
  files = host_files_of(greeting.host_name);
}

}  // namespace holdfast::postgres
