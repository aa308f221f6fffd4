#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "engines/sidekiq/dialect.hpp"

namespace holdfast::sidekiq {

/// The body of an answer as the gem keeps it: text where the type says text, compressed where that
/// is worth it, base64 otherwise. Bytes that are not what their type says are base64, too: the gem
/// would fail to write them, and lose the answer.
boost::json::value encode_body(std::string_view bytes, std::string_view content_type,
                               const Dialect& dialect);

/// Bytes as the gem keeps them: base64.
boost::json::value bytes_body(std::string_view bytes);

/// The body of a request: null, a text, or an object with its encoding. Throws `InvalidRequest`.
std::string decode_body(const boost::json::value& body);

}  // namespace holdfast::sidekiq
