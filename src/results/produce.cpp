#include "results/produce.hpp"

#include <sodium.h>

#include <boost/json.hpp>

#include <fmt/format.h>

namespace holdfast::results {

namespace {

using boost::json::object;

std::string sha256(std::string_view bytes) {
  unsigned char sum[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(sum, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::string text;
  for (auto byte : sum) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

Message header_message_of(const std::string& id, const std::vector<AnnouncedSeries>& series) {
  boost::json::array list;
  for (const auto& each : series)
    list.push_back(object{{"name", each.name}, {"count", each.count}});
  object envelope{{"type", "header"}, {"transactionId", id}, {"series", std::move(list)}};
  return {.queue = header_queue(id), .body = boost::json::serialize(envelope)};
}

Message part_message_of(const std::string& id, const std::string& series, std::int64_t ordinal,
                        std::string_view bytes) {
  object envelope{{"type", "payload"},
                  {"transactionId", id},
                  {"series", series},
                  {"ordinal", ordinal},
                  {"sha256", sha256(bytes)}};
  return {.queue = payload_queue(id),
          .body = fmt::format("{}\n{}", boost::json::serialize(envelope), bytes)};
}

}  // namespace holdfast::results
