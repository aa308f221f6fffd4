#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::objects {

/// What services answer is XML of one known form: elements without attributes, whose names occur
/// where they are meant and nowhere else. So it is enough to look for them.

/// What is between `<name>` and the next `</name>`, for each of them.
std::vector<std::string_view> elements(std::string_view xml, std::string_view name);
/// The text of the first one, with its references resolved. Nothing: there is none.
std::optional<std::string> element(std::string_view xml, std::string_view name);

}  // namespace holdfast::objects
