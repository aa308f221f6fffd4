#include "cli/trace_options.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <holdfast/error.hpp>

#include "server/query.hpp"
#include "traces/collector.hpp"

namespace holdfast::cli {

namespace {

/// A variable that is set to nothing is as good as none, says the standard.
std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

/// The first of these that is set, with its name.
struct Setting {
  std::string name{}, value{};
};
Setting first_set(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto value = variable(name); !value.empty()) return {name, std::move(value)};
  return {};
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return std::string{text.substr(begin, text.find_last_not_of(" \t") - begin + 1)};
}

/// `name=value,name=value`, where the value may have characters as `%2C`. Values may be secrets, so
/// no message has one.
std::vector<std::pair<std::string, std::string>> headers_of(const Setting& setting) {
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view rest = setting.value;
  for (int number = 1; !rest.empty(); ++number) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto entry = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (trimmed(entry).empty()) continue;
    const auto equals = entry.find('=');
    const auto name = trimmed(entry.substr(0, equals));
    const auto value = equals == entry.npos
                           ? std::nullopt
                           : server::percent_decoded(trimmed(entry.substr(equals + 1)), false);
    if (name.empty() || !value)
      throw ConfigError{
          fmt::format("{}: entry {} is not NAME=VALUE, with a comma as %2C", setting.name, number)};
    headers.emplace_back(name, *value);
  }
  return headers;
}

void set_endpoint(TraceOptions& options, const Setting& from, bool exact) {
  try {
    traces_address(from.value, exact);
  } catch (const ConfigError& error) {
    throw ConfigError{fmt::format("{}: {}", from.name, error.what())};
  }
  options.endpoint = from.value;
  options.exact = exact;
}

/// The collector would not answer, and nobody would know why.
void refuse_other_protocols() {
  const auto protocol =
      first_set({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"});
  if (protocol.value.empty() || protocol.value.starts_with("http/")) return;
  throw ConfigError{
      fmt::format("{} is '{}', and spans are sent over HTTP only: give the collector's address for "
                  "that (mostly port 4318) and http/json, or set OTEL_SDK_DISABLED=true",
                  protocol.name, protocol.value)};
}

}  // namespace

void add_trace_flags(CLI::App& command, TraceFlags& flags) {
  command
      .add_option("--otlp", flags.endpoint,
                  "Send spans of attempts to this collector for OpenTelemetry, such as "
                  "http://127.0.0.1:4318; default: OTEL_EXPORTER_OTLP_ENDPOINT, else the "
                  "configuration's, else none")
      ->type_name("URL");
}

std::optional<TraceOptions> trace_options(Context& context, const TraceFlags& flags) {
  TraceOptions options;
  const auto whole = first_set({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"});
  const auto base = first_set({"OTEL_EXPORTER_OTLP_ENDPOINT"});
  const auto& configured = context.program_settings().traces_endpoint;
  if (!flags.endpoint.empty()) {
    set_endpoint(options, {"--otlp", flags.endpoint}, false);
  } else if (variable("OTEL_SDK_DISABLED") == "true") {
    return {};
  } else if (!whole.value.empty() || !base.value.empty()) {
    refuse_other_protocols();
    set_endpoint(options, whole.value.empty() ? base : whole, !whole.value.empty());
  } else if (!configured.empty()) {
    options.endpoint = configured;
  } else {
    return {};
  }
  if (auto name = variable("OTEL_SERVICE_NAME"); !name.empty()) options.service = std::move(name);
  options.headers =
      headers_of(first_set({"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"}));
  return options;
}

std::vector<std::string> tags_of_traceparent(const std::string& traceparent) {
  auto tags = trace_tags(traceparent);
  if (tags.empty())
    throw InvalidRequest{
        fmt::format("--traceparent: '{}' is none; it looks like "
                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                    traceparent)};
  return tags;
}

}  // namespace holdfast::cli
