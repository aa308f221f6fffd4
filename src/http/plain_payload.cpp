#include "http/plain_payload.hpp"

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

#include <holdfast/payload.hpp>

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

std::string plain_result(const std::string& result, const PayloadOptions& options,
                         std::string_view who) {
  if (result.empty()) return result;
  const auto json = parse_json(result);
  const auto* object = json.if_object();
  const auto* sealed = object ? object->if_contains("sealed") : nullptr;
  return sealed ? plain_payload(boost::json::serialize(*sealed), options, who).text : result;
}

}  // namespace holdfast::http
