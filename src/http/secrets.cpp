#include <holdfast/http/secrets.hpp>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/bound_host.hpp"
#include "http/headers.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::http {

namespace {

void check_pattern(const char* what, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (pattern.empty() || (star != pattern.npos && star + 1 != pattern.size()))
    throw ConfigError{fmt::format(
        "'{}' is not a {} that a secret can be bound to; write its name, or its beginning and a *",
        plain(pattern), what)};
}

void add_line(Binding& binding, std::string_view line) {
  const auto space = std::min(line.find_first_of(" \t"), line.size());
  const auto word = line.substr(0, space);
  const std::string value{trimmed(line.substr(space))};
  if (word == "host") {
    BoundHost::parse(value);
    binding.hosts.push_back(value);
  } else if (word == "queue") {
    check_pattern("queue", value);
    binding.queues.push_back(value);
  } else if (word == "kind") {
    check_pattern("kind", value);
    binding.kinds.push_back(value);
  } else {
    throw ConfigError{
        fmt::format("unknown word '{}'; expected one of: host, queue, kind", plain(word))};
  }
}

}  // namespace

Binding parse_binding(std::string_view text, std::string source) {
  Binding binding{.source = std::move(source)};
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, std::min(end, text.find('#'))));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    try {
      add_line(binding, line);
    } catch (const ConfigError& error) {
      throw ConfigError{fmt::format("{}:{}: {}", binding.source, number, error.what())};
    }
  }
  if (binding.hosts.empty())
    throw ConfigError{
        fmt::format("{} names no host; add a line such as 'host api.example.org'", binding.source)};
  return binding;
}

void validate(const Binding& binding) {
  for (const auto& host : binding.hosts) BoundHost::parse(host);
  for (const auto& queue : binding.queues) check_pattern("queue", queue);
  for (const auto& kind : binding.kinds) check_pattern("kind", kind);
}

}  // namespace holdfast::http
