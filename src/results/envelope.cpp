#include "results/envelope.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tasks/names.hpp"

namespace holdfast::results {

namespace {

constexpr std::size_t longest_envelope = 1 << 20;
/// So that a blob's key has room for it, however much of it must be written in another way.
constexpr std::size_t longest_series = 60;

/// Ledgers have lines of Holdfast's own, in series of these names.
constexpr std::string_view reserved_series = "holdfast/";

using boost::json::object;

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Malformed{fmt::format(format, std::forward<Args>(args)...)};
}

std::string text_of(const object& envelope, std::string_view name) {
  const auto* value = envelope.if_contains(name);
  if (!value || !value->is_string()) refuse("'{}' is missing or is not a text", name);
  return std::string{value->get_string()};
}

std::optional<std::int64_t> number_of(const object& envelope, std::string_view name) {
  const auto* value = envelope.if_contains(name);
  if (!value || value->is_null()) return {};
  if (value->is_int64()) return value->get_int64();
  refuse("'{}' is not a whole number", name);
}

std::string series_of(const object& envelope, std::string_view name) {
  auto series = text_of(envelope, name);
  try {
    check_name("name of a series", series, longest_series);
  } catch (const InvalidRequest& error) {
    refuse("{}", error.what());
  }
  if (series.starts_with(reserved_series))
    refuse("the name of series '{}' begins with '{}', which is reserved", series, reserved_series);
  return series;
}

/// The JSON up to the first newline, and where the rest begins; nowhere if there is no newline.
std::pair<std::string, std::optional<std::uint64_t>> envelope_text(Delivery& delivery) {
  std::string text(std::min<std::uint64_t>(delivery.size(), 4'096), '\0');
  while (true) {
    text.resize(delivery.read(0, text));
    if (auto end = text.find('\n'); end != text.npos) return {text.substr(0, end), end + 1};
    if (text.size() == delivery.size()) return {text, {}};
    if (text.size() >= longest_envelope)
      refuse("its first line is longer than {} bytes: it is no envelope", longest_envelope);
    text.resize(std::min<std::uint64_t>(delivery.size(), 8 * text.size()));
  }
}

HeaderMessage read_header(const object& envelope, const Options& limits) {
  const auto* list = envelope.if_contains("series");
  if (!list || !list->is_array() || list->get_array().empty())
    refuse("'series' is missing, empty or not a list");
  if (std::ssize(list->get_array()) > limits.max_series)
    refuse("{} series are announced; at most {} are allowed", list->get_array().size(),
           limits.max_series);
  HeaderMessage header;
  for (const auto& each : list->get_array()) {
    if (!each.is_object()) refuse("an entry of 'series' is not an object");
    auto name = series_of(each.get_object(), "name");
    auto count = number_of(each.get_object(), "count");
    if (!count || *count < 0 || *count > limits.max_ordinal)
      refuse("the count of series '{}' is not between 0 and {}", name, limits.max_ordinal);
    if (std::ranges::find(header.series, name, &AnnouncedSeries::name) != header.series.end())
      refuse("series '{}' is announced twice", name);
    header.series.push_back({name, *count});
  }
  std::ranges::sort(header.series, {}, &AnnouncedSeries::name);
  return header;
}

PartMessage read_part(const object& envelope, const Options& limits,
                      std::optional<std::uint64_t> body_at) {
  if (!body_at) refuse("its envelope is not followed by a newline and the bytes of the part");
  PartMessage part{.series = series_of(envelope, "series"),
                   .total = number_of(envelope, "totalCount"),
                   .body_at = *body_at};
  auto ordinal = number_of(envelope, "ordinal");
  if (!ordinal || *ordinal < 1 || *ordinal > limits.max_ordinal)
    refuse("its ordinal is not between 1 and {}", limits.max_ordinal);
  part.ordinal = *ordinal;
  if (part.total && part.ordinal > *part.total)
    refuse("it is part {} of {} of '{}'", part.ordinal, *part.total, part.series);
  if (envelope.contains("sha256")) {
    part.sha256 = text_of(envelope, "sha256");
    std::ranges::transform(part.sha256, part.sha256.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return part;
}

}  // namespace

std::variant<HeaderMessage, PartMessage> read_message(Delivery& delivery, const std::string& id,
                                                      const Options& limits) {
  auto [text, body_at] = envelope_text(delivery);
  boost::json::value json;
  try {
    json = parse_json(text);
  } catch (const InvalidRequest& error) {
    refuse("its envelope is not JSON: {}", error.what());
  }
  if (!json.is_object()) refuse("its envelope is not a JSON object");
  const auto& envelope = json.get_object();
  if (auto whose = text_of(envelope, "transactionId"); whose != id)
    refuse("it is for transaction '{}' and came to that of '{}'", whose, id);
  auto type = text_of(envelope, "type");
  if (type == "header") return read_header(envelope, limits);
  if (type == "payload") return read_part(envelope, limits, body_at);
  refuse("its type is '{}'; there are 'header' and 'payload'", type);
}

}  // namespace holdfast::results
