#include "transactions/start.hpp"

#include <sodium.h>

#include <algorithm>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/state_machine.hpp>

#include "tasks/names.hpp"
#include "tasks/reserved.hpp"

namespace holdfast {

namespace {

constexpr std::size_t longest_id = 100;
constexpr std::string_view before_id = R"({"id":")";
constexpr std::string_view before_input = R"(","input":)";
constexpr std::string_view at_the_end = "}";
/// A claim lasts as long as a transaction listens, and other limits end it.
constexpr Millis as_long_as_it_takes = std::chrono::hours{24 * 365 * 10};
constexpr int most_attempts = 1'000;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

TaskId transaction_task(std::string_view id) {
  if (auto task = TaskId::parse(id)) return *task;
  if (id.empty() || id.size() > longest_id || id.front() == '.' ||
      !std::ranges::all_of(id, is_plain))
    throw InvalidRequest{fmt::format(
        "the id of a transaction needs 1 to {} letters, digits, '-', '_' and '.', and no dot in "
        "front",
        longest_id)};
  TaskId task;
  static_assert(sizeof task.bytes >= crypto_generichash_BYTES_MIN);
  crypto_generichash(task.bytes.data(), task.bytes.size(),
                     reinterpret_cast<const unsigned char*>(id.data()), id.size(), nullptr, 0);
  return task;
}

std::string start_payload(const StartWords& words) {
  return fmt::format("{}{}{}{}{}", before_id, words.id, before_input, words.input, at_the_end);
}

// By its place and not by a parser, which would round large numbers.
StartWords parse_start(std::string_view payload) {
  auto id_end = payload.find(before_input);
  if (!payload.starts_with(before_id) || id_end == payload.npos || !payload.ends_with(at_the_end))
    throw UnfitPayload{"this is not the payload of a transaction"};
  auto input = id_end + before_input.size();
  return {std::string{payload.substr(before_id.size(), id_end - before_id.size())},
          std::string{payload.substr(input, payload.size() - input - at_the_end.size())}};
}

std::string start_transaction(const Engine& engine, const std::string& machine, std::string id,
                              std::string input_json, const StartOptions& options) {
  check_name("name of the transactions", machine, longest_name);
  check_not_reserved("name of the transactions", machine);
  check_members("the input", input_json);
  if (id.empty()) id = TaskId::make().text();
  NewTask task{transaction_kind, {}, {}};
  task.options.id = transaction_task(id);
  // Two spellings of a ULID are one transaction.
  if (TaskId::parse(id)) id = task.options.id->text();
  task.payload = start_payload({id, std::move(input_json)});
  task.options.queue = machine;
  task.options.delay = options.delay;
  task.options.priority = options.priority;
  task.options.max_attempts = most_attempts;
  task.options.timeout = as_long_as_it_takes;
  enqueue_own(engine, {std::move(task)});
  return id;
}

}  // namespace holdfast
