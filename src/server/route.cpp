#include "server/route.hpp"

namespace holdfast::server {

namespace {

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> found;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const auto end = path.find('/');
    found.push_back(path.substr(0, end));
    if (end == path.npos) return found;
    path.remove_prefix(end + 1);
  }
}

std::optional<std::map<std::string, std::string>> fit(
    const std::vector<std::string_view>& path, const std::vector<std::string_view>& pattern) {
  if (path.size() != pattern.size()) return {};
  std::map<std::string, std::string> places;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool place = pattern[i].starts_with('{');
    if (!place && path[i] != pattern[i]) return {};
    if (!place) continue;
    auto value = percent_decoded(path[i], false);
    if (!value || value->empty()) return {};
    places[std::string{pattern[i].substr(1, pattern[i].size() - 2)}] = *std::move(value);
  }
  return places;
}

}  // namespace

Routes::Match Routes::find(std::string_view method, std::string_view raw_path) const {
  const auto path = segments(raw_path);
  Match match;
  for (const auto& route : routes_) {
    auto places = fit(path, segments(route.pattern));
    if (!places) continue;
    if (route.method == method || (method == "HEAD" && route.method == "GET")) {
      // Routes with names in them come first in the table where a place would fit, too.
      match.route = &route;
      match.places = *std::move(places);
      return match;
    }
    match.allowed.insert(route.method);
    if (route.method == "GET") match.allowed.insert("HEAD");
  }
  return match;
}

}  // namespace holdfast::server
