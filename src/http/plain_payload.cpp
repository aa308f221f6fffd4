#include "http/plain_payload.hpp"

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

#include <holdfast/payload.hpp>

namespace holdfast::http {

PlainPayload plain_payload(const std::string& payload, const SealedFor& owner,
                           const PayloadOptions& options, std::string_view who) {
  PlainPayload plain{payload};
  bool authentic = false;
  if (is_sealed(payload)) try {
      auto unsealed = unseal(payload, owner, options);
      plain = {boost::json::serialize(unsealed.document), std::move(unsealed.blob)};
      authentic = unsealed.authentic;
    } catch (const PayloadRefused&) {
      throw;
    } catch (const InvalidRequest& error) {
      throw UnfitPayload{fmt::format("{}; give {} the --blobs and --payload-key of the processor",
                                     error.what(), who)};
    }
  if (!authentic && must_be_sealed(owner.kind, options))
    throw PayloadRefused{
        fmt::format("the payload is neither encrypted nor signed, and {} was told with "
                    "--require-sealed to refuse such payloads of kind '{}'",
                    who, owner.kind)};
  return plain;
}

std::string plain_result(const std::string& result, SealedFor owner, const PayloadOptions& options,
                         std::string_view who) {
  if (result.empty()) return result;
  owner.part = SealedFor::Part::result;
  const auto json = parse_json(result);
  const auto* object = json.if_object();
  const auto* sealed = object ? object->if_contains("sealed") : nullptr;
  if (sealed) return plain_payload(boost::json::serialize(*sealed), owner, options, who).text;
  if (object && object->contains("response")) expect_sealed(false, options);
  return result;
}

}  // namespace holdfast::http
