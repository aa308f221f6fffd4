#include "tasks/schedule_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "recovery/json_fields.hpp"

namespace holdfast {

using namespace json_fields;

std::string options_text(const TaskOptions& options) {
  json::array tags;
  for (const auto& tag : options.tags) tags.emplace_back(tag);
  const auto& backoff = options.backoff;
  json::object object{
      {"queue", options.queue},
      {"priority", options.priority},
      {"delay", options.delay.count()},
      {"max_attempts", options.max_attempts},
      {"timeout", options.timeout.count()},
      {"backoff",
       {{"first", backoff.first.count()},
        {"factor", backoff.factor},
        {"longest", backoff.longest.count()},
        {"jitter", backoff.jitter}}},
      {"unique_key", options.unique_key},
      {"limit_key", options.limit_key},
      {"tags", std::move(tags)},
  };
  return json::serialize(object);
}

TaskOptions parse_options(std::string_view text) {
  const auto value = json::parse(view(text));
  const auto& object = value.as_object();
  const auto& backoff = object.at("backoff").as_object();
  auto millis = [](const json::object& in, std::string_view key) {
    return Millis{number_in<std::int64_t>(in, key)};
  };
  TaskOptions options;
  options.queue = text_in(object, "queue");
  options.priority = number_in<int>(object, "priority");
  options.delay = millis(object, "delay");
  options.max_attempts = number_in<int>(object, "max_attempts");
  options.timeout = millis(object, "timeout");
  options.backoff = {millis(backoff, "first"), number_in<double>(backoff, "factor"),
                     millis(backoff, "longest"), number_in<double>(backoff, "jitter")};
  options.unique_key = text_in(object, "unique_key");
  options.limit_key = text_in(object, "limit_key");
  for (const auto& tag : object.at("tags").as_array())
    options.tags.emplace_back(tag.as_string().data(), tag.as_string().size());
  return options;
}

}  // namespace holdfast
