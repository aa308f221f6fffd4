#include "batches/original_liveness.hpp"

#include <stdexcept>

namespace holdfast::test {

namespace {

const std::string registry_key = "ALYA_WORKER_REGISTRY";

std::string key(const std::string& tag, const std::string& what) {
  return "ALYA_{" + tag + "}_" + what;
}

}  // namespace

OriginalLiveness::OriginalLiveness(const std::string& address, std::string instance)
    : instance_{std::move(instance)},
      redis_{redis::Address::parse(address), redis::Address::parse(address).endpoints.front(),
             Millis{30'000}} {}

redis::Reply OriginalLiveness::call(const redis::Command& command) {
  auto reply = redis_.call(command);
  if (reply.is_error()) throw std::runtime_error{command[0] + ": " + reply.string()};
  return reply;
}

std::set<std::string> OriginalLiveness::members(const std::string& key) {
  auto reply = call({"SMEMBERS", key});
  std::set<std::string> found;
  for (std::size_t i = 0; i < reply.size(); ++i) found.insert(reply[i].string());
  return found;
}

void OriginalLiveness::beat(std::chrono::milliseconds believed) {
  call({"SET", key(instance_, "HEARTBEAT"), "alive", "PX", std::to_string(believed.count())});
  call({"SADD", registry_key, instance_});
}

void OriginalLiveness::track(const OriginalWorker::Row& row, std::chrono::milliseconds believed) {
  call({"SADD", key(instance_, "ROWS"), row.id});
  call({"PEXPIRE", key(instance_, "ROWS"), std::to_string(believed.count())});
}

void OriginalLiveness::untrack(const OriginalWorker::Row& row) {
  call({"SREM", key(instance_, "ROWS"), row.id});
}

int OriginalLiveness::recover(OriginalWorker& database) {
  int dead = 0;
  for (const auto& other : registry()) {
    if (other == instance_ || is_alive(other)) continue;
    for (const auto& row : rows_of(other)) database.queue_again(row);
    call({"DEL", key(other, "ROWS")});
    call({"SREM", registry_key, other});
    ++dead;
  }
  return dead;
}

bool OriginalLiveness::is_alive(const std::string& instance) {
  return call({"EXISTS", key(instance, "HEARTBEAT")}).number() == 1;
}

std::set<std::string> OriginalLiveness::registry() { return members(registry_key); }

std::set<std::string> OriginalLiveness::rows_of(const std::string& instance) {
  return members(key(instance, "ROWS"));
}

std::string OriginalLiveness::cached(const std::string& batch, const std::string& what) {
  return call({"GET", key(batch, what)}).string();
}

std::int64_t OriginalLiveness::seconds_left(const std::string& batch, const std::string& what) {
  return call({"TTL", key(batch, what)}).number();
}

void OriginalLiveness::cache_status(const std::string& batch, const std::string& status) {
  call({"SET", key(batch, "STATUS"), status, "EX", "60"});
}

}  // namespace holdfast::test
