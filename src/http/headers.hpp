#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/http/request.hpp>

namespace holdfast::http {

/// Without spaces and ends of lines around it.
std::string_view trimmed(std::string_view text);
std::string lower(std::string_view text);

/// Throws `InvalidRequest` for a name or a value that would break the request apart: libcurl sends
/// what it is given.
void check_header(std::string_view name, std::string_view value);

/// Whether a request may carry this header, in lower case, to another server than the one that it
/// was made for: it says what a client understands, and nothing of who it is or what it may do.
bool is_harmless_header(std::string_view name);

/// Both, with lower-case names; where both have one, `over` wins.
Headers merge(const Headers& under, const Headers& over);

/// Takes one line of a response into `headers`. Bytes that are not UTF-8 are read as Latin-1, so
/// that every answer can be written as JSON.
void add_header_line(Headers& headers, std::string_view line);

/// The length that a `Content-Length` tells, once or several times alike; the largest number for
/// one that none can hold. Nothing: that is no length, or several of which libcurl would choose
/// one.
std::optional<std::size_t> length_in(std::string_view value);

}  // namespace holdfast::http
