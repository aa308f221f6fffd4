#pragma once

#include <string>

namespace holdfast::cli {

/// The bytes of a file that a person named; `-` is standard input. Throws `InvalidRequest`.
std::string content_of_input(const std::string& path);

}  // namespace holdfast::cli
