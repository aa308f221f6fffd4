#include "tasks/cron_field.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/plain_text.hpp"

namespace holdfast {

namespace {

[[noreturn]] void refuse(const CronField& field, std::string_view part) {
  throw InvalidRequest{fmt::format(
      "the {} of the cron text is '{}'; allowed are *, the numbers {} to {}{}, ranges (1-5), steps "
      "(*/2, 1-9/2) and lists of them (1,3,5)",
      field.what, plain(part), field.least, field.most,
      field.names.empty()
          ? ""
          : fmt::format(", the names {} to {}", field.names.front(), field.names.back()))};
}

bool same_name(std::string_view name, std::string_view text) {
  auto same = [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); };
  return std::ranges::equal(name, text, same);
}

int number(const CronField& field, std::string_view text, std::string_view part) {
  for (std::size_t i = 0; i < field.names.size(); ++i)
    if (same_name(field.names[i], text)) return field.least + static_cast<int>(i);
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool digits = !text.empty() && std::isdigit(static_cast<unsigned char>(text.front()));
  if (!digits || error != std::errc{} || end != text.data() + text.size()) refuse(field, part);
  if (value < field.least || value > field.most) refuse(field, part);
  return value;
}

/// `*`, `5`, `1-5`, each with an optional step.
void add_part(const CronField& field, std::string_view part, std::vector<int>& into) {
  auto slash = part.find('/');
  auto range = part.substr(0, slash);
  int step = 1;
  if (slash != part.npos) {
    // The step has no names, and one as large as the field is of no use but does no harm.
    step = number({field.what, 1, field.most}, part.substr(slash + 1), part);
  }
  int first = field.least, last = field.most;
  if (range != "*") {
    auto dash = range.find('-');
    first = last = number(field, range.substr(0, dash), part);
    if (dash != range.npos) {
      last = number(field, range.substr(dash + 1), part);
    } else if (slash != part.npos) {
      last = field.most;
    }
    // A week ends with the Sunday that another one begins with: sat-sun.
    if (field.most == 7 && last == 0 && first > 0) last = 7;
    if (first > last) refuse(field, part);
  }
  for (int value = first; value <= last; value += step) into.push_back(value);
}

}  // namespace

std::vector<int> parse_cron_field(const CronField& field, std::string_view text) {
  std::vector<int> values;
  while (true) {
    auto comma = text.find(',');
    add_part(field, text.substr(0, comma), values);
    if (comma == text.npos) return values;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace holdfast
