#include "engines/postgres/diagnose.hpp"

#include <fmt/format.h>

#include "engines/postgres/engine.hpp"
#include "engines/postgres/migrate.hpp"
#include "engines/postgres/upkeep.hpp"

namespace holdfast::postgres {

namespace {

std::string setting(Connection& db, const char* name) {
  auto row = db.run("SELECT current_setting($1, true)", name);
  return row.next() ? row.text(0) : "";
}

/// What the server's settings may cost.
void look_at_settings(Connection& db, Durability durability, std::vector<std::string>& advice) {
  if (setting(db, "fsync") == "off")
    advice.push_back("fsync is off: a crash of the server's machine may damage everything.");
  if (durability == Durability::power_safe && setting(db, "synchronous_commit") == "off")
    advice.push_back(
        "synchronous_commit is off: a crash of the server may take the last moments, although this "
        "store is to be power-safe.");
  if (setting(db, "data_checksums") == "off")
    advice.push_back(
        "The server keeps no checksums of its pages, so damage is not noticed; see pg_checksums.");
  if (setting(db, "autovacuum") == "off")
    advice.push_back("autovacuum is off: claims become slower with every task.");
}

void look_at_cleaning(Connection& db, std::vector<std::string>& advice) {
  constexpr Millis long_time{std::chrono::minutes{5}};
  constexpr std::int64_t many = 1'000'000;
  auto upkeep = look_at_upkeep(db);
  if (upkeep.blocker && upkeep.blocker->age > long_time)
    advice.push_back(fmt::format(
        "A transaction of process {} ({}) has been open for {} minutes and keeps the server from "
        "cleaning up; end it.",
        upkeep.blocker->pid, upkeep.blocker->who,
        std::chrono::duration_cast<std::chrono::minutes>(upkeep.blocker->age).count()));
  else if (upkeep.dead_rows > many)
    advice.push_back(
        fmt::format("{} dead versions of tasks are not cleaned up; {}", upkeep.dead_rows,
                    upkeep.sees_others
                        ? "is autovacuum keeping up?"
                        : "is autovacuum keeping up, and does a transaction of another role stay "
                          "open? The latter shows with GRANT pg_read_all_stats to this one."));
}

}  // namespace

Diagnosis diagnose(const Address& address, const DiagnosisOptions& options, Settings settings) {
  auto parts = open_store(address, std::move(settings));
  Engine engine{parts};
  Diagnosis diagnosis;
  diagnosis.store = engine.name();
  diagnosis.in_file = false;
  diagnosis.level = engine.run_level();
  diagnosis.reason = parts->why_read_only();
  diagnosis.integrity = parts->check_integrity(options.full, {});
  if (!diagnosis.integrity->advice.empty()) diagnosis.advice.push_back(diagnosis.integrity->advice);
  store_of(engine).reader.read([&](Connection& db) {
    auto size = db.run("SELECT pg_database_size(current_database())");
    if (size.next()) diagnosis.database_bytes = size.integer(0);
    if (auto warning = db.clear_text(); !warning.empty()) diagnosis.advice.push_back(warning + ".");
    look_at_settings(db, engine.settings().durability, diagnosis.advice);
    look_at_cleaning(db, diagnosis.advice);
  });
  return diagnosis;
}

bool holds_store(const Address& address) {
  Connection db{std::make_shared<const Dialect>(address, system_clock()), Durability::power_safe,
                Connection::Purpose::steps};
  return version_of(db, address) > 0;
}

}  // namespace holdfast::postgres
