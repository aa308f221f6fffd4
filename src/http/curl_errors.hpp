#pragma once

#include <curl/curl.h>

#include <holdfast/http/response.hpp>

namespace holdfast::http {

ErrorType error_type_of(CURLcode code);

}  // namespace holdfast::http
