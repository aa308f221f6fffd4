#include "tasks/figures.hpp"

#include <algorithm>

#include <boost/json.hpp>

namespace holdfast {

namespace json = boost::json;

namespace {

std::int64_t growth(std::int64_t now, std::int64_t earlier) {
  return std::max<std::int64_t>(now - earlier, 0);
}

std::string_view text_of(const json::object& object, const char* name) {
  const auto* found = object.if_contains(name);
  if (!found || !found->is_string()) return {};
  return {found->get_string().data(), found->get_string().size()};
}

std::map<std::string, std::string> texts_of(const json::object& object, const char* name) {
  std::map<std::string, std::string> texts;
  const auto* found = object.if_contains(name);
  if (!found || !found->is_object()) return texts;
  for (const auto& each : found->get_object())
    if (each.value().is_string()) texts[each.key()] = each.value().get_string();
  return texts;
}

std::int64_t number_of(const json::value& value) {
  return value.is_int64() ? value.get_int64() : 0;
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  started += other.started;
  completed += other.completed;
  failed += other.failed;
  retried += other.retried;
  return *this;
}

Tally Tally::since(const Tally& earlier) const {
  return {growth(started, earlier.started), growth(completed, earlier.completed),
          growth(failed, earlier.failed), growth(retried, earlier.retried)};
}

Tally& Figures::of(std::string_view kind) {
  auto found = std::ranges::find(kinds, kind, &OfKind::kind);
  if (found != kinds.end()) return found->tally;
  if (kind.empty() || kinds.size() + 1 < most_kinds)
    return kinds.emplace_back(OfKind{std::string{kind}}).tally;
  return of({});
}

Tally Figures::total() const {
  Tally sum;
  for (const auto& each : kinds) sum += each.tally;
  return sum;
}

void Figures::add(const Figures& other) {
  for (const auto& each : other.kinds) of(each.kind) += each.tally;
  wait.add(other.wait);
  run.add(other.run);
  full += other.full;
}

Figures Figures::since(const Figures& earlier) const {
  Figures more;
  for (const auto& each : kinds) {
    const auto before = std::ranges::find(earlier.kinds, each.kind, &OfKind::kind);
    const auto tally = before == earlier.kinds.end() ? each.tally : each.tally.since(before->tally);
    if (tally != Tally{}) more.of(each.kind) += tally;
  }
  more.wait = wait.since(earlier.wait);
  more.run = run.since(earlier.run);
  more.full = growth(full, earlier.full);
  return more;
}

std::string Figures::text() const {
  json::object object;
  json::array list;
  for (const auto& each : kinds)
    list.push_back(json::array{each.kind, each.tally.started, each.tally.completed,
                               each.tally.failed, each.tally.retried});
  object["version"] = 1;
  object["kinds"] = std::move(list);
  object["wait"] = wait.text();
  object["run"] = run.text();
  object["full"] = full;
  if (draining) object["draining"] = true;
  if (!tells.empty()) object["tells"] = tells;
  if (!paused.empty()) object["paused"] = json::value_from(paused);
  if (!troubles.empty()) object["troubles"] = json::value_from(troubles);
  return json::serialize(object);
}

std::optional<Figures> Figures::parse(std::string_view text) {
  json::error_code wrong;
  const auto value = json::parse({text.data(), text.size()}, wrong);
  if (wrong || !value.is_object()) return {};
  const auto& object = value.get_object();
  const auto* version = object.if_contains("version");
  const auto* list = object.if_contains("kinds");
  if (!version || *version != 1 || !list || !list->is_array()) return {};
  Figures parsed;
  for (const auto& each : list->get_array()) {
    if (!each.is_array() || each.get_array().size() != 5 || !each.get_array()[0].is_string())
      return {};
    const auto& row = each.get_array();
    const auto& kind = row[0].get_string();
    parsed.of({kind.data(), kind.size()}) +=
        {number_of(row[1]), number_of(row[2]), number_of(row[3]), number_of(row[4])};
  }
  parsed.wait = TimeHistogram::parse(text_of(object, "wait"));
  parsed.run = TimeHistogram::parse(text_of(object, "run"));
  if (const auto* full = object.if_contains("full")) parsed.full = number_of(*full);
  const auto* draining = object.if_contains("draining");
  parsed.draining = draining && *draining == true;
  parsed.tells = text_of(object, "tells");
  parsed.paused = texts_of(object, "paused");
  parsed.troubles = texts_of(object, "troubles");
  return parsed;
}

void count_claims(Figures& figures, std::span<const Claimed> claimed, WallTime now) {
  // Later attempts waited for their back-off, which says nothing about how busy the workers are.
  for (const auto& one : claimed)
    if (one.attempt == 1 && one.ready_at > WallTime{})
      figures.wait.add(std::max(now - one.ready_at, Millis{0}));
}

void count_ends(Figures& figures, std::span<const Settlement> sent,
                std::span<const Settled> answers) {
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto& one = sent[i];
    if (answers[i] == Settled::refused || !one.was_attempt) continue;
    if (one.to == TaskState::completed) ++figures.of(one.kind).completed;
    if (one.to == TaskState::failed) ++figures.of(one.kind).failed;
    if (one.to == TaskState::pending) ++figures.of(one.kind).retried;
  }
}

}  // namespace holdfast
