#include "engines/objects/xml.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace holdfast::objects {

namespace {

/// Others do not occur: a key with such characters would not be one of ours.
std::string without_references(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> known{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string plain;
  while (!text.empty()) {
    std::size_t length = 1;
    char c = text.front();
    for (const auto& [reference, meaning] : known)
      if (text.starts_with(reference)) {
        length = reference.size();
        c = meaning;
      }
    plain += c;
    text.remove_prefix(length);
  }
  return plain;
}

}  // namespace

std::vector<std::string_view> elements(std::string_view xml, std::string_view name) {
  auto open = fmt::format("<{}>", name);
  auto close = fmt::format("</{}>", name);
  std::vector<std::string_view> found;
  for (auto at = xml.find(open); at != xml.npos; at = xml.find(open, at)) {
    at += open.size();
    auto end = xml.find(close, at);
    if (end == xml.npos) break;
    found.push_back(xml.substr(at, end - at));
    at = end;
  }
  return found;
}

std::optional<std::string> element(std::string_view xml, std::string_view name) {
  auto found = elements(xml, name);
  if (found.empty()) return {};
  return without_references(found.front());
}

}  // namespace holdfast::objects
