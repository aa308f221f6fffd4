#include "engines/sqlite/task_rescue.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/sqlite/record_mend.hpp"

namespace holdfast::sqlite {

namespace {

using Fate = RescuedTask::Fate;

std::optional<std::string_view> text(const SqlValue& value) {
  auto found = std::get_if<std::string>(&value);
  if (!found) return {};
  return *found;
}

TaskId id_of(const SqlValue& value) {
  TaskId id;
  auto blob = std::get_if<Blob>(&value);
  if (blob && blob->size() == id.bytes.size()) std::ranges::copy(*blob, id.bytes.begin());
  return id;
}

SqlValue as_value(TaskId id) { return Blob(id.bytes.begin(), id.bytes.end()); }

constexpr auto held = static_cast<std::int64_t>(TaskState::held);

}  // namespace

TaskRescue::Witnesses::Witnesses(PageSalvage& old) {
  for (const auto& [id, seq] : old.indexed_tasks()) ids.emplace(seq, id);
  old.each_entry("holdfast_finished", [&](const Record& entry) {
    if (entry.size() == 4) finished.emplace(integer(entry[3]), integer(entry[0]));
  });
}

TaskRescue::TaskRescue(const TableShape& tasks, Witnesses witnesses, WallTime now)
    : shape_{tasks}, witnesses_{std::move(witnesses)}, now_{now} {
  auto at = [&](std::string_view name) { return shape_.place_of(name); };
  at_ = {.id = at("id"),
         .state = at("state"),
         .priority = at("priority"),
         .run_at = at("run_at"),
         .token = at("token"),
         .owner = at("owner"),
         .lease_until = at("lease_until"),
         .finished_at = at("finished_at"),
         .attempt = at("attempt"),
         .recoveries = at("recoveries"),
         .crashes = at("crashes"),
         .suspect = at("suspect"),
         .cancel_requested = at("cancel_requested"),
         .created_at = at("created_at"),
         .max_attempts = at("max_attempts"),
         .timeout = at("timeout"),
         .backoff = at("backoff"),
         .unique_key = at("unique_key"),
         .tags = at("tags"),
         .cause = at("cause"),
         .payload_sum = at("payload_sum"),
         .row_sum = at("row_sum"),
         .payload = at("payload"),
         .lane = at("lane")};
}

SummedRow TaskRescue::summed(const Record& record) const {
  auto number = [&](std::size_t place) { return integer(record[place]); };
  SummedRow row;
  row.id = id_of(record[at_.id]);
  row.lane = number(at_.lane);
  row.state = number(at_.state);
  row.priority = number(at_.priority);
  row.run_at = number(at_.run_at);
  row.token = number(at_.token);
  row.attempt = number(at_.attempt);
  row.recoveries = number(at_.recoveries);
  row.crashes = number(at_.crashes);
  row.suspect = number(at_.suspect);
  row.cancel_requested = number(at_.cancel_requested);
  row.created_at = number(at_.created_at);
  row.max_attempts = number(at_.max_attempts);
  row.timeout = number(at_.timeout);
  row.payload_sum = number(at_.payload_sum);
  return row;
}

bool TaskRescue::payload_fits(const Record& record) const {
  auto payload = text(record[at_.payload]);
  return payload && integer(record[at_.payload_sum]) ==
                        payload_sum(*payload, text(record[at_.tags]), text(record[at_.unique_key]),
                                    text(record[at_.backoff]));
}

bool TaskRescue::fits(const Record& record) const {
  if (!shape_.fits(record)) return false;
  if (row_sum(summed(record)) != integer(record[at_.row_sum])) return false;
  return is_finished_number(integer(record[at_.state])) || payload_fits(record);
}

std::optional<RescuedTask> TaskRescue::rescue(const PageSalvage::Row& row) const {
  auto record = shape_.read(row.record);
  bool sound = record && fits(*record);
  if (sound && row.found == PageSalvage::Found::doubtful &&
      !is_finished_number(integer((*record)[at_.state]))) {
    return hold(row.rowid, std::move(*record),
                "The disk was damaged, and its row was found where old rows may be too: it may "
                "have run already.");
  }
  if (sound) return RescuedTask{Fate::sound, row.rowid, *record, id_of((*record)[at_.id])};
  if (auto mended = mend(row)) return mended;
  if (!record) return {};
  auto finished = settle_finished(row.rowid, *record);
  return finished ? finished : hold_damaged(row.rowid, std::move(*record));
}

/// Looks for the one bit that makes the task fit its checksums: in the record, or before it, where
/// it says how long the record is.
std::optional<RescuedTask> TaskRescue::mend(const PageSalvage::Row& row) const {
  auto seq = row.rowid;
  auto mended = mend_record(row.record, shape_, [&](const Record& tried) { return fits(tried); });
  for (unsigned bit = 0; !mended && bit < PageSalvage::Row::bits_of_beginning; ++bit) {
    auto cell = row.with_flipped(bit);
    auto tried = cell ? shape_.read(cell->payload) : std::nullopt;
    // A finished task has no checksum that could prove it.
    if (!tried || !fits(*tried) || is_finished_number(integer((*tried)[at_.state]))) continue;
    seq = cell->rowid;
    mended = std::move(tried);
  }
  if (!mended) return {};
  auto id = id_of((*mended)[at_.id]);
  return RescuedTask{Fate::mended,
                     seq,
                     std::move(*mended),
                     id,
                     {},
                     fmt::format("One bit of task {} had flipped and was put right.", id.text())};
}

std::optional<TaskRescue::Contradiction> TaskRescue::contradiction(std::int64_t seq,
                                                                   const Record& record) const {
  auto state = integer(record[at_.state]);
  if (!is_finished_number(state)) return {};
  auto id = id_of(record[at_.id]);
  auto other_id = witnesses_.ids.find(seq);
  if (other_id != witnesses_.ids.end() && other_id->second != id) {
    return Contradiction{other_id->second,
                         fmt::format("A finished task is {} by its row and {} by the index of ids; "
                                     "the row was believed.",
                                     id.text(), other_id->second.text())};
  }
  auto other_state = witnesses_.finished.find(seq);
  if (other_state == witnesses_.finished.end() || other_state->second == state) return {};
  return Contradiction{
      id, fmt::format("Task {} is {} by its row and {} by an index; the row was believed.",
                      id.text(), to_string(static_cast<TaskState>(state)),
                      is_finished_number(other_state->second)
                          ? to_string(static_cast<TaskState>(other_state->second))
                          : "something else")};
}

/// A row sum of 0 says that the task was finished, and its state may still say something else. The
/// index of finished tasks says how it ended.
std::optional<RescuedTask> TaskRescue::settle_finished(std::int64_t seq, Record record) const {
  auto witness = witnesses_.finished.find(seq);
  if (witness == witnesses_.finished.end() || integer(record[at_.row_sum]) != 0) return {};
  record[at_.state] = witness->second;
  if (!fits(record)) return {};
  auto id = id_of(record[at_.id]);
  return RescuedTask{
      Fate::mended,
      seq,
      std::move(record),
      id,
      {},
      fmt::format("The state of task {} was damaged and was put right by the index.", id.text())};
}

RescuedTask TaskRescue::hold(std::int64_t seq, Record record, const std::string& cause) const {
  bool damaged = !payload_fits(record);
  auto state = integer(record[at_.state]);
  auto from =
      state >= 0 && state < task_state_count ? static_cast<TaskState>(state) : TaskState::pending;
  record[at_.state] = held;
  record[at_.cause] = cause;
  record[at_.owner] = std::monostate{};
  record[at_.lease_until] = std::monostate{};
  record[at_.finished_at] = std::monostate{};
  record[at_.cancel_requested] = std::int64_t{0};
  if (damaged) record[at_.payload_sum] = payload_known_to_be_damaged;
  record[at_.row_sum] = row_sum(summed(record));
  auto id = id_of(record[at_.id]);
  return {Fate::held, seq,  std::move(record),
          id,         from, fmt::format("Task {} is held: {}", id.text(), cause)};
}

/// What cannot be believed is brought back to where it does no harm, so that the row is one again.
std::optional<RescuedTask> TaskRescue::hold_damaged(std::int64_t seq, Record record) const {
  bool payload_is_sound = payload_fits(record);
  auto witness = witnesses_.ids.find(seq);
  if (witness != witnesses_.ids.end()) record[at_.id] = as_value(witness->second);
  if (id_of(record[at_.id]).is_nil()) return {};
  auto bring_within = [&](std::size_t place, std::int64_t low, std::int64_t high,
                          std::int64_t otherwise) {
    auto value = std::get_if<std::int64_t>(&record[place]);
    if (!value || *value < low || *value > high) record[place] = otherwise;
  };
  auto now = now_.time_since_epoch().count();
  constexpr std::int64_t many = 1'000'000, hour = 3'600'000, year = 365 * 24 * hour;
  bring_within(at_.lane, 1, many, 0);
  bring_within(at_.priority, highest_priority, lowest_priority, lowest_priority);
  bring_within(at_.run_at, 0, now + 10 * year, 0);
  bring_within(at_.token, 0, now * 1000, now * 1000);
  for (auto place : {at_.attempt, at_.recoveries, at_.crashes}) bring_within(place, 0, many, 0);
  for (auto place : {at_.suspect, at_.cancel_requested}) bring_within(place, 0, 1, 0);
  bring_within(at_.created_at, 0, now, now);
  bring_within(at_.max_attempts, 1, many, 1);
  bring_within(at_.timeout, 1, year, hour);
  for (auto place : {at_.backoff, at_.unique_key, at_.tags})
    if (!text(record[place])) record[place] = std::monostate{};
  if (!text(record[at_.payload])) record[at_.payload] = std::string{"null"};
  return hold(seq, std::move(record),
              payload_is_sound
                  ? "Its row was damaged on disk. The payload is what it was; kind, priority, "
                    "attempts or state may not be."
                  : "Its payload was damaged on disk.");
}

}  // namespace holdfast::sqlite
