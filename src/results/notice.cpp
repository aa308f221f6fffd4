#include "results/notice.hpp"

#include <algorithm>

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

/// A retry is not what was asked, or told, before: it has ids of its own.
std::string in_round(int round) { return round == 0 ? std::string{} : fmt::format("-r{}", round); }

}  // namespace

Message request_for(const Transaction& transaction, const Options& options, Knowledge& known,
                    const Tally* missing) {
  // The request goes out as it came in, so it is put in as text.
  object envelope{{"type", "request"},
                  {"transactionId", transaction.id()},
                  {"headerQueueName", header_queue(transaction.id(), known.queue_round)},
                  {"payloadQueueName", payload_queue(transaction.id(), known.queue_round)},
                  {"round", known.round},
                  {"resend", missing != nullptr}};
  if (missing) {
    envelope["headerReceived"] = missing->known.announced;
    array series;
    for (const auto& each : missing->progress().series)
      series.push_back(object{{"name", each.series}, {"missing", gaps_text(each.missing)}});
    envelope["series"] = std::move(series);
  }
  const int number = std::max(known.asks, known.resends);
  known.asks = number + 1;
  auto text = boost::json::serialize(envelope);
  text.pop_back();
  return {.queue = options.request_queue,
          .body = fmt::format("{},\"request\":{}}}", text, transaction.input_json()),
          .id = fmt::format("{}-request-{}{}", transaction.id(), number, in_round(known.round))};
}

Message completion_of(const Transaction& transaction, const Options& options, const Tally& tally,
                      const std::vector<LedgerEntry>& ledger, WallTime now) {
  std::map<std::string, array> references;
  std::int64_t blobs = 0, bytes = 0;
  for (const auto& entry : ledger) {
    if (!tally.expects(entry.series, entry.ordinal)) continue;
    auto part = part_of(entry.value);
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
                {"status", "completed"},
                {"completionTimestamp", iso8601(now)},
                {"totalBlobCount", blobs},
                {"totalDataSize", bytes},
                {"seriesCollection", std::move(collection)}};
  return {.queue = queue_for(transaction, options),
          .body = boost::json::serialize(notice),
          .id = transaction.id()};
}

Message failure_of(const Transaction& transaction, const Options& options, const Tally& tally,
                   WallTime now) {
  array series;
  for (const auto& each : tally.progress().series) {
    object one{{"seriesType", each.series}, {"received", each.received}};
    if (each.expected >= 0) one["totalCount"] = each.expected;
    one["missing"] = gaps_text(each.missing);
    series.push_back(std::move(one));
  }
  object notice{{"transactionId", transaction.id()}, {"status", "failed"},
                {"reason", transaction.reason()},    {"failureTimestamp", iso8601(now)},
                {"round", tally.known.round},        {"headerReceived", tally.known.announced},
                {"series", std::move(series)}};
  return {.queue = options.failure_queue.empty() ? queue_for(transaction, options)
                                                 : options.failure_queue,
          .body = boost::json::serialize(notice),
          .id = fmt::format("{}-failed{}", transaction.id(), in_round(tally.known.round))};
}

}  // namespace holdfast::results
