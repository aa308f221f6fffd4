#include "recovery/start_up_json.hpp"

#include <array>

#include <boost/json/array.hpp>

#include "recovery/json_fields.hpp"

namespace holdfast {

using namespace json_fields;

namespace {

json::array written(const std::vector<Damage>& damage) {
  json::array list;
  for (const auto& one : damage) {
    list.push_back(json::object{
        {"kind", view(to_string(one.kind))}, {"what", one.what}, {"task", optional_id(one.task)}});
  }
  return list;
}

/// The value of an enum that `to_string` gives this name.
template <class Enum, std::size_t n>
Enum named(const std::array<Enum, n>& all, const std::string& name, std::string_view key) {
  for (auto each : all) {
    if (to_string(each) == name) return each;
  }
  return required(std::optional<Enum>{}, key);
}

std::vector<Damage> damage_in(const json::object& object, std::string_view key) {
  static constexpr std::array kinds{Damage::Kind::file, Damage::Kind::wal, Damage::Kind::index,
                                    Damage::Kind::row, Damage::Kind::lost};
  std::vector<Damage> damage;
  for (const auto& each : object.at(view(key)).as_array()) {
    const auto& one = each.as_object();
    damage.push_back({named(kinds, text_in(one, "kind"), "kind"), text_in(one, "what"),
                      optional_id_in<TaskId>(one, "task")});
  }
  return damage;
}

json::value written(const std::optional<StartUp::RecoveryPoint>& point) {
  if (!point) return nullptr;
  return json::object{{"wal_frame", point->wal_frame},
                      {"at", iso8601(point->at)},
                      {"newest", optional_id(point->newest)}};
}

}  // namespace

json::object to_json_object(const IntegrityResult& result) {
  return {{"passed", result.passed},
          {"full", result.full},
          {"completed", result.completed},
          {"duration_ms", result.duration.count()},
          {"rows_checked", result.rows_checked},
          {"damage", written(result.damage)},
          {"advice", result.advice}};
}

json::object to_json_object(const StartUp& start_up) {
  return {{"began", iso8601(start_up.began)},
          {"duration_ms", start_up.duration.count()},
          {"unclean", start_up.unclean},
          {"rebooted", start_up.rebooted},
          {"recovery_point", written(start_up.recovery_point)},
          {"integrity", to_json_object(start_up.integrity)},
          {"journal_mode", start_up.journal_mode},
          {"wal_restored", start_up.wal_restored},
          {"wal_bytes", start_up.wal_bytes},
          {"wal_frames", start_up.wal_frames},
          {"wal_unread", start_up.wal_unread},
          {"wal_frames_checkpointed", start_up.wal_frames_checkpointed},
          {"checkpoint_error", start_up.checkpoint_error},
          {"evidence", start_up.evidence},
          {"repair", start_up.repair},
          {"kept_aside", start_up.kept_aside},
          {"losses", written(start_up.losses)},
          {"level", view(to_string(start_up.level))},
          {"reason", start_up.reason}};
}

IntegrityResult integrity_from_json(const json::object& object) {
  IntegrityResult result;
  result.passed = flag_in(object, "passed");
  result.full = flag_in(object, "full");
  result.completed = flag_in(object, "completed");
  result.duration = Millis{number_in<std::int64_t>(object, "duration_ms")};
  result.rows_checked = number_in<std::int64_t>(object, "rows_checked");
  result.damage = damage_in(object, "damage");
  result.advice = text_in(object, "advice");
  return result;
}

StartUp start_up_from_json(const json::object& object) {
  static constexpr std::array levels{RunLevel::normal, RunLevel::read_only, RunLevel::halted};
  StartUp start_up;
  start_up.unclean = flag_in(object, "unclean");
  start_up.rebooted = flag_in(object, "rebooted");
  if (const auto& point = object.at("recovery_point"); !point.is_null()) {
    const auto& read = point.as_object();
    start_up.recovery_point = {number_in<int>(read, "wal_frame"), time_in(read, "at"),
                               optional_id_in<TaskId>(read, "newest")};
  }
  start_up.integrity = integrity_from_json(object.at("integrity").as_object());
  start_up.journal_mode = text_in(object, "journal_mode");
  start_up.wal_restored = flag_in(object, "wal_restored");
  start_up.wal_bytes = number_in<std::int64_t>(object, "wal_bytes");
  start_up.wal_frames = number_in<int>(object, "wal_frames");
  start_up.wal_frames_checkpointed = number_in<int>(object, "wal_frames_checkpointed");
  start_up.checkpoint_error = text_in(object, "checkpoint_error");
  start_up.evidence = text_in(object, "evidence");
  start_up.repair = text_in(object, "repair");
  start_up.kept_aside = text_in(object, "kept_aside");
  start_up.losses = damage_in(object, "losses");
  start_up.level = named(levels, text_in(object, "level"), "level");
  if (!object.contains("began")) return start_up;  // written by an earlier version
  start_up.began = time_in(object, "began");
  start_up.duration = Millis{number_in<std::int64_t>(object, "duration_ms")};
  start_up.wal_unread = text_in(object, "wal_unread");
  start_up.reason = text_in(object, "reason");
  return start_up;
}

}  // namespace holdfast
