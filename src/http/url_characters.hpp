#pragma once

#include <string>
#include <string_view>

namespace holdfast::http {

/// The URL with what may not stand in its path, query and fragment written as `%5B`: brackets,
/// braces, quotes, letters of other alphabets, a percent sign that begins nothing. Servers read
/// both alike, so this is what is sent. Spaces, backslashes and control characters stay, for
/// whoever reads the URL to refuse: programs disagree about them, and most are mistakes.
std::string escaped(std::string_view url);

/// Why an escaped URL, or what was meant to be one, is none: mostly a character.
std::string what_is_wrong_with(std::string_view url);

}  // namespace holdfast::http
