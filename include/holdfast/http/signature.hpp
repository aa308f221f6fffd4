#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::http {

/// The bytes of a signing key: `whsec_` and base64, or the bytes themselves; 24 to 64 of them.
/// Throws `ConfigError`.
std::string signing_key(std::string_view text);

/// The value of the header `webhook-signature` for a body, one signature for each key: HMAC-SHA256
/// over id, time and body, as Standard Webhooks has it.
std::string signature(std::string_view id, std::chrono::sys_seconds at, std::string_view body,
                      const std::vector<std::string>& keys);

/// Whether one of the signatures in `header` is by one of the keys and not older (or from further
/// ahead) than `tolerance`. For the receiving side.
bool verify_signature(std::string_view header, std::string_view id, std::chrono::sys_seconds at,
                      std::string_view body, const std::vector<std::string>& keys,
                      std::chrono::sys_seconds now,
                      std::chrono::seconds tolerance = std::chrono::minutes{5});

}  // namespace holdfast::http
