#pragma once

#include <string>
#include <string_view>

#include <holdfast/http/payloads.hpp>

namespace holdfast::http {

/// A payload as somebody reads it who is no callback of ours: a program, or a remote worker.
struct PlainPayload {
  std::string text{};
  std::string blob{};  ///< where it was kept; empty: in the store itself
};

/// What was not sealed is left as it is, unless its kind must be. Throws `PayloadRefused` for what
/// must not be read as the owner's, `UnfitPayload` for what cannot be read with these options,
/// saying that `who` needs others, and `BlobError` where blobs cannot be reached.
PlainPayload plain_payload(const std::string& payload, const SealedFor& owner,
                           const PayloadOptions& options, std::string_view who);

/// The same for the result of a request, which is `{"response": ...}` where it has no callback.
std::string plain_result(const std::string& result, SealedFor owner, const PayloadOptions& options,
                         std::string_view who);

}  // namespace holdfast::http
