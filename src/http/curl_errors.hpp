#pragma once

#include <curl/curl.h>

#include <string_view>

#include <holdfast/http/response.hpp>

namespace holdfast::http {

ErrorType error_type_of(CURLcode code, std::string_view said);

/// Why, in words: what libcurl `said`, unless it said nothing or named the proxy as it was given,
/// which may have a password in it.
std::string_view explain(CURLcode code, std::string_view said);

}  // namespace holdfast::http
