#include "results/notice.hpp"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "recovery/time_text.hpp"
#include "results/notify_queue.hpp"
#include "results/store_part.hpp"

namespace holdfast::results {

namespace {

using boost::json::array;
using boost::json::object;

/// Whether the request may name its queue was decided before the producer was told. Where that has
/// changed since, the parts are there, and the usual queue is told.
std::string queue_for(const Transaction& transaction, const Options& options) {
  try {
    return notify_queue_of(transaction.input_json(), options);
  } catch (const InvalidRequest&) {
    return options.notify_queue;
  }
}

}  // namespace

Message request_for(const Transaction& transaction, const Options& options, const Tally* missing) {
  // The request goes out as it came in, so it is put in as text.
  object envelope{{"type", "request"},
                  {"transactionId", transaction.id()},
                  {"headerQueueName", header_queue(transaction.id())},
                  {"payloadQueueName", payload_queue(transaction.id())},
                  {"resend", missing != nullptr}};
  if (missing) {
    envelope["headerReceived"] = missing->known.announced;
    array series;
    for (const auto& each : missing->progress().series)
      series.push_back(object{{"name", each.series}, {"missing", gaps_text(each.missing)}});
    envelope["series"] = std::move(series);
  }
  auto text = boost::json::serialize(envelope);
  text.pop_back();
  return {
      .queue = options.request_queue,
      .body = fmt::format("{},\"request\":{}}}", text, transaction.input_json()),
      .id = fmt::format("{}-request-{}", transaction.id(), missing ? missing->known.resends : 0)};
}

Message completion_of(const Transaction& transaction, const Options& options, const Tally& tally,
                      const std::vector<LedgerEntry>& ledger, WallTime now) {
  std::map<std::string, array> references;
  std::int64_t blobs = 0, bytes = 0;
  for (const auto& entry : ledger) {
    if (!tally.expects(entry.series, entry.ordinal)) continue;
    auto part = from_payload<StoredPart>(entry.value);
    references[entry.series].push_back(object{{"ordinal", entry.ordinal},
                                              {"blobUri", options.blobs->address_of(part.blob)},
                                              {"blobKey", part.blob},
                                              {"bytes", part.bytes},
                                              {"sha256", part.sha256}});
    ++blobs;
    bytes += part.bytes;
  }
  array collection;
  for (const auto& [name, count] : tally.known.series)
    collection.push_back(object{{"seriesType", name},
                                {"totalCount", count},
                                {"isComplete", true},
                                {"blobReferences", std::move(references[name])}});
  object notice{{"transactionId", transaction.id()},
                {"completionTimestamp", iso8601(now)},
                {"totalBlobCount", blobs},
                {"totalDataSize", bytes},
                {"seriesCollection", std::move(collection)}};
  return {.queue = queue_for(transaction, options),
          .body = boost::json::serialize(notice),
          .id = transaction.id()};
}

}  // namespace holdfast::results
