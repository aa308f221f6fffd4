#include "engines/redis/liveness.hpp"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "engines/redis/arguments.hpp"

namespace holdfast::redis {

namespace {

/// Nothing waits for the answers but those who want a second opinion, and they can do without.
constexpr Millis answer_within{2'000};
/// How long a status is believed that may change, and one that may not.
constexpr std::chrono::seconds cached_for{60};
constexpr auto ended_cached_for = 100 * cached_for;

const std::string registry = "ALYA_WORKER_REGISTRY";

std::string key(const std::string& tag, std::string_view what) {
  return fmt::format("ALYA_{{{}}}_{}", tag, what);
}

Command with_rows(std::string name, std::string key, std::span<const std::int64_t> rows) {
  Command command{std::move(name), std::move(key)};
  for (auto row : rows) command.push_back(std::to_string(row));
  return command;
}

Command expire(std::string key, Millis after) {
  return {"PEXPIRE", std::move(key), std::to_string(after.count())};
}

boost::json::object files_json(const BatchRecord& batch) {
  boost::json::object files;
  for (const auto& [name, blob] : batch.output_files) files[name] = blob;
  return files;
}

std::string summary_json(const BatchRecord& batch) {
  auto status = to_string(batch.status);
  return boost::json::serialize(
      boost::json::object{{"status", boost::json::string_view{status.data(), status.size()}},
                          {"outputFiles", files_json(batch)},
                          {"nsuccess", batch.rows[BatchStatus::success]},
                          {"nfailed", batch.rows[BatchStatus::failed]},
                          {"naborted", batch.rows[BatchStatus::aborted]}});
}

}  // namespace

RedisLiveness::RedisLiveness(Address address) : nodes_{std::move(address), answer_within} {}

void RedisLiveness::beat(const std::string& worker, std::span<const std::int64_t> rows,
                         const Times& times) {
  auto held = key(worker, "ROWS");
  std::vector<Command> commands{
      {"SET", key(worker, "HEARTBEAT"), "alive", "PX", std::to_string(times.heartbeat.count())},
      {"MULTI"},
      {"DEL", held}};
  if (!rows.empty()) {
    commands.push_back(with_rows("SADD", held, rows));
    commands.push_back(expire(held, times.rows));
  }
  commands.push_back({"EXEC"});
  nodes_.call(worker, commands);
  // After the heartbeat: who is registered and has none is dead.
  nodes_.call(registry, {"SADD", registry, worker});
}

void RedisLiveness::track(const std::string& worker, std::span<const std::int64_t> begun,
                          std::span<const std::int64_t> ended, const Times& times) {
  auto held = key(worker, "ROWS");
  std::vector<Command> commands;
  if (!begun.empty()) commands.push_back(with_rows("SADD", held, begun));
  if (!ended.empty()) commands.push_back(with_rows("SREM", held, ended));
  if (commands.empty()) return;
  commands.push_back(expire(held, times.rows));
  nodes_.call(worker, commands);
}

void RedisLiveness::leave(const std::string& worker) {
  // The heartbeat last: without it others would think that it died with its rows.
  nodes_.call(worker, {"DEL", key(worker, "ROWS")});
  nodes_.call(registry, {"SREM", registry, worker});
  nodes_.call(worker, {"DEL", key(worker, "HEARTBEAT")});
}

Liveness::Peer RedisLiveness::look_at(std::string worker) {
  // The heartbeat last: one that is there now was there when the rows were read, or has come since,
  // and then the rows are not left behind either.
  std::array commands{Command{"SMEMBERS", key(worker, "ROWS")},
                      Command{"EXISTS", key(worker, "HEARTBEAT")}};
  auto replies = nodes_.call(worker, commands);
  Peer peer{std::move(worker), replies[1].number() != 0, {}};
  for (std::size_t i = 0; i < replies[0].size(); ++i)
    peer.rows.push_back(parse_number(replies[0][i].text()));
  return peer;
}

std::vector<Liveness::Peer> RedisLiveness::peers() {
  auto workers = nodes_.call(registry, {"SMEMBERS", registry});
  std::vector<Peer> found;
  for (std::size_t i = 0; i < workers.size(); ++i) found.push_back(look_at(workers[i].string()));
  return found;
}

void RedisLiveness::forget(const Peer& dead) {
  // Only the rows that were seen: it may have been slow, not dead, and have begun others since.
  if (!dead.rows.empty())
    nodes_.call(dead.worker, with_rows("SREM", key(dead.worker, "ROWS"), dead.rows));
  auto now = look_at(dead.worker);
  if (!now.alive && now.rows.empty()) nodes_.call(registry, {"SREM", registry, dead.worker});
}

void RedisLiveness::cache(const BatchRecord& batch, const std::optional<std::string>& result) {
  auto tag = batch.id.text();
  bool ended = batch.done_at.has_value();
  auto seconds = std::to_string((ended ? ended_cached_for : cached_for).count());
  auto set = [&](std::string_view what, std::string value) {
    return Command{"SET", key(tag, what), std::move(value), "EX", seconds};
  };
  std::vector<Command> commands;
  if (ended) {
    // The status last: who finds it there looks for the others.
    commands.push_back(set("SUMMARY", summary_json(batch)));
    commands.push_back(set("OUTFILES", boost::json::serialize(files_json(batch))));
    if (result) commands.push_back(set("RESULT", *result));
  }
  commands.push_back(set("STATUS", std::string{to_string(batch.status)}));
  nodes_.call(tag, commands);
}

std::optional<BatchStatus> RedisLiveness::cached(BatchId batch) {
  auto tag = batch.text();
  return parse_batch_status(nodes_.call(tag, {"GET", key(tag, "STATUS")}).text());
}

}  // namespace holdfast::redis
