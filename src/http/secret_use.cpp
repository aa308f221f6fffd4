#include "http/secret_use.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/bound_host.hpp"

namespace holdfast::http {

namespace {

/// `billing*` is every name that begins with `billing`.
bool fits(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

bool fits_one(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const auto& pattern) { return fits(pattern, name); });
}

std::string remedy(const Binding& binding, std::string_view word, std::string_view value) {
  if (binding.source.empty()) return fmt::format("add '{}' to the {}s of its binding", value, word);
  return fmt::format("add the line '{} {}' to {}", word, value, binding.source);
}

}  // namespace

void check_use(std::string_view what, const Binding& binding, const SecretUse& use) {
  const bool unbound = binding.hosts.empty() && binding.queues.empty() && binding.kinds.empty();
  if (unbound && use.unbound_allowed) return;
  const bool right_host = std::ranges::any_of(
      binding.hosts, [&](const auto& host) { return BoundHost::parse(host).covers(use.origin); });
  if (!right_host)
    throw InvalidRequest{
        fmt::format("the {} is not bound to {}, so it is not sent there; if it should be, {}", what,
                    url_text(use.origin), remedy(binding, "host", bound_host_text(use.origin)))};
  if (!binding.kinds.empty() && !fits_one(binding.kinds, use.kind))
    throw InvalidRequest{
        fmt::format("the {} must not be used by tasks of the kind '{}'; if they should use it, {}",
                    what, use.kind, remedy(binding, "kind", use.kind))};
  if (binding.queues.empty()) return;
  const auto queue = use.queue ? use.queue() : std::string{};
  if (!fits_one(binding.queues, queue))
    throw InvalidRequest{
        fmt::format("the {} must not be used by requests of queue '{}'; if they should use it, {}",
                    what, queue, remedy(binding, "queue", queue))};
}

}  // namespace holdfast::http
