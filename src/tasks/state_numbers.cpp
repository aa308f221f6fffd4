#include "tasks/state_numbers.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tasks/transitions.hpp"

namespace holdfast {

namespace {

struct Name {
  std::string text;
  std::string becomes;
};

std::vector<Name> make_names() {
  std::vector<Name> names;
  std::vector<int> finished, unfinished;
  for (int number = 0; number < task_state_count; ++number) {
    const auto state = static_cast<TaskState>(number);
    (is_finished(state) ? finished : unfinished).push_back(number);
    names.push_back({fmt::format("{{{}}}", to_string(state)), std::to_string(number)});
  }
  names.push_back({"{finished}", fmt::format("({})", fmt::join(finished, ", "))});
  names.push_back({"{unfinished}", fmt::format("({})", fmt::join(unfinished, ", "))});
  return names;
}

}  // namespace

std::string with_state_numbers(std::string_view statement) {
  static const auto names = make_names();
  std::string text{statement};
  for (const auto& [name, becomes] : names)
    for (auto at = text.find(name); at != text.npos; at = text.find(name, at + becomes.size()))
      text.replace(at, name.size(), becomes);
  return text;
}

}  // namespace holdfast
