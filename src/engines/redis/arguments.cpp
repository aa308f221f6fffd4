#include "engines/redis/arguments.hpp"

#include <boost/json.hpp>
#include <charconv>

#include <fmt/format.h>
#include <holdfast/report.hpp>

#include "recovery/backoff.hpp"

namespace holdfast::redis {

Arguments& Arguments::add(const std::vector<std::string>& list) {
  add(list.size());
  for (const auto& text : list) add(text);
  return *this;
}

Arguments& Arguments::add(const ReportHead& report) {
  RecoveryReport begun;
  begun.state = ReportState::running;
  begun.started_at = begun.completed_at = report.started_at;
  begun.trigger = report.trigger;
  begun.action = report.action;
  return add(report.id.text()).add(to_json(begun));
}

namespace {

bool in_one_run(const NewTask& one, const NewTask& next) {
  const auto &a = one.options, &b = next.options;
  return one.kind == next.kind && a.queue == b.queue && a.limit_key == b.limit_key &&
         a.priority == b.priority && a.delay == b.delay && a.at == b.at &&
         a.id.has_value() == b.id.has_value() && a.unique_key.empty() && b.unique_key.empty() &&
         a.after.empty() && b.after.empty();
}

void add_run(Arguments& arguments, std::span<const NewTask* const> run, bool have_new_ids,
             std::vector<TaskId>& ids) {
  const auto& options = run.front()->options;
  arguments.add(run.size())
      .add(have_new_ids || !options.id)
      .add(lane_text(*run.front()))
      .add(options.priority);
  arguments.add(options.delay);
  if (options.at)
    arguments.add(*options.at);
  else
    arguments.add("");
  arguments.add(options.unique_key).add(options.after.size());
  for (const auto& on : options.after) arguments.add(on.text());
  for (const auto* task : run) {
    ids.push_back(task->options.id ? *task->options.id : TaskId::make());
    arguments.add(ids.back().text()).add(body_text(*task));
  }
}

}  // namespace

std::vector<TaskId> add_tasks(Arguments& arguments, std::span<const NewTask* const> tasks,
                              bool have_new_ids) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (i == 0 || !in_one_run(*tasks[i - 1], *tasks[i])) begins.push_back(i);
  std::vector<TaskId> ids;
  ids.reserve(tasks.size());
  arguments.add(begins.size());
  begins.push_back(tasks.size());
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    add_run(arguments, tasks.subspan(begins[i], begins[i + 1] - begins[i]), have_new_ids, ids);
  return ids;
}

std::string body_text(const NewTask& task) {
  const auto& options = task.options;
  auto text = fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}", separator, options.max_attempts,
                          options.timeout.count(),
                          is_default(options.backoff) ? "" : backoff_text(options.backoff),
                          options.tags.empty() ? std::string{} : json_list(options.tags));
  return text += task.payload;
}

Body parse_body(std::string_view text) {
  auto parts = split_into<5>(text);
  Body body;
  body.max_attempts = static_cast<int>(parse_number(parts[0]));
  body.timeout = Millis{parse_number(parts[1])};
  body.backoff = parse_backoff(parts[2]);
  body.tags = parts[3];
  body.payload = parts[4];
  return body;
}

std::string lane_text(const NewTask& task) {
  return fmt::format("{1}{0}{2}{0}{3}", separator, task.options.queue, task.kind,
                     task.options.limit_key);
}

Lane parse_lane(std::string_view lane) {
  auto parts = split(lane, 3);
  return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

std::string json_list(const std::vector<std::string>& texts) {
  return boost::json::serialize(boost::json::value_from(texts));
}

std::vector<std::string> parse_json_list(std::string_view text) {
  std::vector<std::string> found;
  boost::json::error_code wrong;
  auto list = boost::json::parse(boost::json::string_view{text.data(), text.size()}, wrong);
  if (wrong || !list.is_array()) return found;
  for (const auto& item : list.get_array())
    if (item.is_string()) found.emplace_back(item.get_string());
  return found;
}

std::vector<std::string> split(std::string_view text, std::size_t most) {
  std::vector<std::string> parts;
  while (parts.size() + 1 < most) {
    auto at = text.find(separator);
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.emplace_back(text);
  parts.resize(most);
  return parts;
}

WallTime wall_time(std::int64_t milliseconds) { return WallTime{Millis{milliseconds}}; }

std::int64_t parse_number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace holdfast::redis
