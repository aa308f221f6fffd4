#include "recovery/roster.hpp"

#include <unistd.h>

#include <array>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "recovery/clock.hpp"

namespace holdfast {

namespace json = boost::json;

namespace {

json::value parsed(std::string_view text) {
  json::error_code wrong;
  auto value = json::parse(json::string_view{text.data(), text.size()}, wrong);
  return wrong ? json::value{} : value;
}

std::vector<std::string> texts_in(const json::value& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const auto& item : list.get_array())
    if (item.is_string()) texts.emplace_back(item.get_string());
  return texts;
}

std::string silence_text(Millis silent, bool ahead, std::string_view proof) {
  if (ahead) return fmt::format("its lease ends in the future: the clock was set back; {}", proof);
  return fmt::format("silent for {} s; {}",
                     std::chrono::duration_cast<std::chrono::seconds>(silent).count(), proof);
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string boot_of(std::string_view clock_domain) {
  return std::string{clock_domain.substr(0, clock_domain.find('/'))};
}

bool restarted_between(std::string_view boot, std::string_view other) {
  return boot != other && boot != unknown_boot && other != unknown_boot;
}

std::string profile_json(const WorkerProfile& profile) {
  return json::serialize(json::object{{"queues", json::value_from(profile.queues)},
                                      {"kinds", json::value_from(profile.kinds)},
                                      {"concurrency", profile.concurrency},
                                      {"heartbeat_ms", profile.heartbeat.count()}});
}

void read_profile(std::string_view text, WorkerStatus& status) {
  const auto profile = parsed(text);
  if (!profile.is_object()) return;
  const auto& object = profile.get_object();
  if (auto queues = object.if_contains("queues")) status.queues = texts_in(*queues);
  if (auto kinds = object.if_contains("kinds")) status.kinds = texts_in(*kinds);
  if (auto threads = object.if_contains("concurrency"); threads && threads->is_int64())
    status.concurrency = static_cast<int>(threads->get_int64());
  if (auto every = object.if_contains("heartbeat_ms"); every && every->is_int64())
    status.heartbeat_interval = Millis{every->get_int64()};
}

std::string ids_json(std::span<const TaskId> ids) {
  std::string text = "[";
  for (const auto& id : ids) {
    if (text.size() > 1) text += ',';
    text += '"' + id.text() + '"';
  }
  return text + "]";
}

std::vector<TaskId> ids_from_json(std::string_view text) {
  std::vector<TaskId> ids;
  for (const auto& item : texts_in(parsed(text)))
    if (auto id = TaskId::parse(item)) ids.push_back(*id);
  return ids;
}

Sighting judge(const RosterRow& row, const Proof& proof) {
  Sighting seen;
  seen.status = row.status;
  seen.buried = row.buried;
  seen.lease_until = row.lease_until;
  seen.ahead = row.ahead;
  const bool dead = proof.of == Proof::Of::death;
  seen.proven_dead = dead || (row.buried && row.proven);
  seen.status.proof = proof.seen;
  seen.witness = proof.witness;
  if (row.buried) return seen;
  if (dead) {
    seen.status.state = WorkerState::dead;
    seen.status.cause = proof.cause;
  } else if (row.past_its_time) {
    seen.stale = true;
    seen.status.cause = silence_text(row.silent, row.ahead, proof.cause);
  }
  return seen;
}

Remains remains_of(const RosterRow& row, const std::string& file) {
  if (row.buried && row.remains) return *row.remains;
  Remains remains;
  // After a restart the board shows whatever happened to reach the disk.
  remains.machine_restarted = row.here && restarted_between(row.boot, boot_of(clock_domain()));
  return remains.machine_restarted ? remains : read_board(file);
}

HostEnlistment::HostEnlistment(HostFiles files, WorkerId id, const WorkerProfile& profile,
                               std::uint64_t oom_kills_before)
    : files_{std::move(files)},
      id_{id},
      board_{files_, id, profile.concurrency, oom_kills_before, profile.remote} {}

}  // namespace holdfast
