#include "engines/postgres/connection.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "tasks/clear_text.hpp"

namespace holdfast::postgres {

namespace {

/// Waiting for ever for a server that does not answer would keep a worker from saying so. What the
/// address says about these wins.
constexpr const char* names[] = {
    "connect_timeout",  "keepalives_idle",  "keepalives_interval",
    "keepalives_count", "tcp_user_timeout", "fallback_application_name",
    "dbname",           "client_encoding",  nullptr};

/// Temporary tables come last: where they are not named, they come first.
constexpr const char* set_path =
    "SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)";
constexpr const char* set_time_limit =
    "SELECT pg_catalog.set_config('statement_timeout', '30s', true)"
    " WHERE pg_catalog.current_setting('statement_timeout') OPERATOR(pg_catalog.=) '0'";

bool begins(std::string_view sql) { return sql.starts_with("BEGIN"); }

bool ends(std::string_view sql) { return sql == "COMMIT" || sql == "ROLLBACK"; }

pg_conn* connect(const Address& address) {
  const char* values[] = {"10",   "10",   "5", "3", "20000", "holdfast", address.connection.c_str(),
                          "UTF8", nullptr};
  auto* connection = PQconnectdbParams(names, values, 1);
  if (PQstatus(connection) == CONNECTION_OK) return connection;
  std::string why = connection ? PQerrorMessage(connection) : "out of memory";
  PQfinish(connection);
  throw_connection_lost(why.c_str(), address.name);
}

}  // namespace

Connection::Connection(std::shared_ptr<const Dialect> dialect, Durability durability,
                       Purpose purpose)
    : dialect_{std::move(dialect)}, connection_{connect(dialect_->address())} {
  PQsetNoticeProcessor(
      connection_, [](void*, const char*) {}, nullptr);
  PQenterPipelineMode(connection_);
  try {
    set_up(durability, purpose);
  } catch (const StoreError&) {
    PQfinish(connection_);
    throw;
  }
}

Connection::Connection(std::shared_ptr<const Dialect> dialect, pg_conn* borrowed)
    : dialect_{std::move(dialect)}, connection_{borrowed}, owned_{false}, pooled_{true} {
  if (PQenterPipelineMode(connection_) != 1)
    throw InvalidRequest{"the connection is busy with another statement, or is not connected"};
}

Connection::~Connection() {
  PQclear(error_);
  if (owned_) {
    PQfinish(connection_);
  } else {
    PQexitPipelineMode(connection_);
  }
}

void Connection::set_up(Durability durability, Purpose purpose) {
  // A pooler makes up a number of its own for the session that it shows us.
  auto backend = run_once("SELECT pg_catalog.pg_backend_pid()");
  backend.next();
  pooled_ = backend.integer(0) != PQbackendPID(connection_);
  if (pooled_) return;
  // Nobody is to be kept waiting for long by somebody else's transaction, or by a dead machine.
  std::string settings =
      "SET search_path = pg_catalog, pg_temp; SET jit = off; SET lock_timeout = '10s'; SET "
      "idle_in_transaction_session_timeout = '60s';"
      " SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;"
      " SET tcp_keepalives_count = 3;"
      // The server goes on with a step whose worker was killed, and others would wait for it. It
      // can only tell on some systems, and says no on others.
      " SELECT set_config('client_connection_check_interval', '1s', false)"
      " WHERE version() LIKE '%linux%';";
  if (durability == Durability::crash_safe) settings += " SET synchronous_commit = off;";
  // Somebody may have switched it off for the role or the database. What is stricter stays.
  if (durability == Durability::power_safe)
    settings +=
        " SELECT set_config('synchronous_commit', 'on', false) WHERE"
        " current_setting('synchronous_commit') = 'off';";
  // The tables change too quickly for statistics.
  if (purpose == Purpose::steps)
    settings += " SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;";
  execute(settings);
}

void Connection::send(const char* name, const std::string* text, const std::vector<Value>& values) {
  std::vector<Oid> types;
  std::vector<const char*> bytes;
  std::vector<int> lengths, formats(values.size(), 1);
  for (const auto& value : values) {
    types.push_back(static_cast<Oid>(value.type));
    bytes.push_back(value.null ? nullptr : value.bytes.data());
    lengths.push_back(static_cast<int>(value.bytes.size()));
  }
  auto count = static_cast<int>(values.size());
  int good = name ? PQsendQueryPrepared(connection_, name, count, bytes.data(), lengths.data(),
                                        formats.data(), 1)
                  : PQsendQueryParams(connection_, text->c_str(), count, types.data(), bytes.data(),
                                      lengths.data(), formats.data(), 1);
  if (good != 1) fail();
}

/// What holds for one transaction only. Statements up to a sync are one, unless they begin one
/// themselves. Behind a pooler the next transaction may be in another session.
void Connection::set_for_transaction(std::string_view next) {
  if (begins(next)) return;  // so that what it says about the transaction is the first of it
  if (!is_set_ && !ends(next)) {
    auto set = [&](const std::string& sql) {
      send(nullptr, &sql, {});
      sent_.push_back({.ours = true});
    };
    if (pooled_ && owned_) set(set_path);
    if (limited_) set(set_time_limit);
    is_set_ = true;
  }
  if (ends(next)) is_set_ = false;
}

void Connection::enqueue(const char* sql, const std::vector<Value>& values) {
  set_for_transaction(sql);
  auto [text, is_new] = expanded_.try_emplace(sql);
  if (is_new) text->second = dialect_->expand(sql);
  if (pooled_) {
    send(nullptr, &text->second, values);
    sent_.push_back({});
    return;
  }
  auto [name, unprepared] = prepared_.try_emplace(sql);
  if (unprepared) {
    name->second = fmt::format("hf{}", ++names_);
    std::vector<Oid> types;
    for (const auto& value : values) types.push_back(static_cast<Oid>(value.type));
    if (PQsendPrepare(connection_, name->second.c_str(), text->second.c_str(),
                      static_cast<int>(types.size()), types.data()) != 1)
      fail();
    sent_.push_back({sql});
  }
  send(name->second.c_str(), nullptr, values);
  sent_.push_back({});
}

Rows Connection::take_result(bool& failed) {
  Rows rows;
  while (auto* result = PQgetResult(connection_)) {
    switch (PQresultStatus(result)) {
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
        rows = Rows{result};
        break;
      case PGRES_PIPELINE_ABORTED:
        failed = true;
        PQclear(result);
        break;
      default:
        failed = true;
        if (error_) PQclear(std::exchange(error_, nullptr));
        error_ = result;
        break;
    }
  }
  if (is_broken()) failed = true;
  return rows;
}

std::vector<Rows> Connection::collect() {
  if (PQpipelineSync(connection_) != 1) fail();
  std::vector<Rows> results;
  bool failed = false;
  auto sent = std::exchange(sent_, {});
  for (const auto& one : sent) {
    auto rows = take_result(failed);
    // Whether it is there is not known any more; the next one gets another name.
    if (failed && one.prepares) prepared_.erase(one.prepares);
    if (!one.prepares && !one.ours) results.push_back(std::move(rows));
  }
  if (!is_broken()) PQclear(PQgetResult(connection_));  // the mark that ends it
  auto status = PQtransactionStatus(connection_);
  is_set_ = status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
  if (failed) fail();
  return results;
}

void Connection::fail() {
  sent_.clear();
  std::unique_ptr<pg_result, void (*)(pg_result*)> error{std::exchange(error_, nullptr), PQclear};
  const auto& store = dialect_->address().name;
  if (error) throw_server_error(error.get(), store);
  throw_connection_lost(PQerrorMessage(connection_), store);
}

Rows Connection::run_once(const std::string& sql, const std::vector<Value>& values) {
  auto text = dialect_->expand(sql);
  set_for_transaction(text);
  send(nullptr, &text, values);
  sent_.push_back({});
  return std::move(collect().back());
}

void Connection::execute(const std::string& sql) {
  std::string_view rest{sql};
  while (!rest.empty()) {
    auto end = rest.find(';');
    auto text = dialect_->expand(rest.substr(0, end));
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    if (text.find_first_not_of(" \n") == text.npos) continue;
    set_for_transaction(text);
    send(nullptr, &text, {});
    sent_.push_back({});
  }
  collect();
}

void Connection::tell_time() {
  const auto* clock = dialect_->manual_clock();
  if (!clock) return;
  queue(
      "SELECT pg_catalog.set_config('holdfast.wall', $1, false),"
      " pg_catalog.set_config('holdfast.steady', $2, false)",
      std::to_string(clock->wall().time_since_epoch().count()),
      std::to_string(clock->steady().count()));
}

const std::string& Connection::server_run() {
  if (!server_run_.empty()) return server_run_;
  std::string system = "unknown";
  try {
    auto row = run("SELECT system_identifier FROM pg_control_system()");
    if (row.next()) system = std::to_string(row.integer(0));
  } catch (const NotAllowed&) {
    // Some who rent out servers keep it to themselves; the time of the start says almost as much.
  }
  // A server of which one process is killed starts its others anew, forgets who had locked what,
  // and begins its counts again; the time of its own start stays.
  auto row = run(
      "SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,"
      " coalesce((extract(epoch FROM stats_reset) * 1000000)::bigint, 0) FROM pg_stat_bgwriter");
  row.next();
  server_run_ = fmt::format("{}/{}/{}", system, row.integer(0), row.integer(1));
  return server_run_;
}

PinnedPath::PinnedPath(Connection& db) {
  db.queue("SELECT pg_catalog.current_setting('search_path')");
  db.queue(set_path);
  auto results = db.collect();
  auto& row = results.at(results.size() - 2);
  row.next();
  before_ = row.text(0);
}

void PinnedPath::queue_restore(Connection& db) const {
  db.queue("SELECT pg_catalog.set_config('search_path', $1, true)", before_);
}

bool Connection::is_broken() const { return PQstatus(connection_) != CONNECTION_OK; }

std::string Connection::clear_text() const {
  if (PQsslInUse(connection_) || PQgssEncInUse(connection_) || !leaves_machine(socket())) return {};
  return clear_text_warning(dialect_->address().name,
                            "add sslmode=verify-full to its address, and sslrootcert if its "
                            "certificate is not signed by a public authority");
}

int Connection::socket() const { return PQsocket(connection_); }

bool Connection::take_in() { return PQconsumeInput(connection_) == 1 && !is_broken(); }

std::vector<std::string> Connection::notifications() {
  std::vector<std::string> texts;
  while (auto* notification = PQnotifies(connection_)) {
    texts.emplace_back(notification->extra);
    PQfreemem(notification);
  }
  return texts;
}

}  // namespace holdfast::postgres
