#include "server/enlisters.hpp"

#include <fmt/format.h>

namespace holdfast::server {

namespace {

constexpr std::size_t most = 10'000;

}  // namespace

Enlisters::Enlisters(const Audit& audit) {
  const auto what = fmt::format("POST {}", path);
  const std::string before = "201 worker ";
  auto entries = audit.list(most, INT64_MAX);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->what == what && entry->outcome.starts_with(before))
      if (const auto worker = WorkerId::parse(entry->outcome.substr(before.size())))
        add(*worker, std::move(entry->who));
}

void Enlisters::add(WorkerId worker, std::string by) {
  std::lock_guard lock{mutex_};
  if (!by_.insert_or_assign(worker, std::move(by)).second) return;
  order_.push_back(worker);
  if (order_.size() <= most) return;
  by_.erase(order_.front());
  order_.pop_front();
}

std::string Enlisters::of(WorkerId worker) const {
  std::lock_guard lock{mutex_};
  const auto found = by_.find(worker);
  return found == by_.end() ? std::string{} : found->second;
}

}  // namespace holdfast::server
