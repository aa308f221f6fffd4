#include "http/plain_payload.hpp"

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

namespace holdfast::http {

PlainPayload plain_payload(const std::string& payload, const PayloadOptions& options,
                           std::string_view who) {
  if (!is_sealed(payload)) return {payload};
  try {
    auto unsealed = unseal(payload, options);
    return {boost::json::serialize(unsealed.document), std::move(unsealed.blob)};
  } catch (const InvalidRequest& error) {
    throw UnfitPayload{fmt::format("{}; give {} the --blobs and --payload-key of the processor",
                                   error.what(), who)};
  }
}

}  // namespace holdfast::http
