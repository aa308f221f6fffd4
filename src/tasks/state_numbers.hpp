#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// Statements name states in braces, and stores know their numbers: `state = {pending}`. There are
/// `{unfinished}` and `{finished}`, too: lists of all that are so, for `state IN {unfinished}`.
std::string with_state_numbers(std::string_view statement);

}  // namespace holdfast
