#include "traces/span.hpp"

#include <unistd.h>

#include <vector>

#include <fmt/format.h>

#include "documents/json.hpp"

namespace holdfast {

namespace {

// As the protocol numbers them.
constexpr int kind_consumer = 5;
constexpr int status_unset = 0, status_ok = 1, status_error = 2;

std::string attribute(std::string_view key, std::string_view value) {
  return JsonObject{}
      .text("key", key)
      .json("value", JsonObject{}.text("stringValue", value).str())
      .str();
}

/// Numbers of 64 bits are texts in JSON of the protocol.
std::string attribute(std::string_view key, std::int64_t value) {
  return JsonObject{}
      .text("key", key)
      .json("value", JsonObject{}.text("intValue", std::to_string(value)).str())
      .str();
}

std::string hex(const TaskId& id) {
  std::string text;
  for (const auto byte : id.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// The same for an attempt whenever it is asked, so that one that is sent twice is one.
std::string span_id(const AttemptSpan& span) {
  std::uint64_t mixed = 14'695'981'039'346'656'037u;  // FNV-1a
  const auto mix = [&](std::uint8_t byte) { mixed = (mixed ^ byte) * 1'099'511'628'211u; };
  for (const auto byte : span.task.bytes) mix(byte);
  for (int shift = 0; shift < 64; shift += 8)
    mix(static_cast<std::uint8_t>(span.token.value >> shift));
  return fmt::format("{:016x}", mixed == 0 ? 1 : mixed);
}

std::string nanoseconds(WallTime time) {
  return std::to_string(std::chrono::nanoseconds{time.time_since_epoch()}.count());
}

std::string status(const AttemptSpan& span) {
  // Back to pending with a reason: it failed and is tried again.
  const bool bad = span.now == TaskState::failed || span.now == TaskState::held ||
                   (span.now == TaskState::pending && !span.reason.empty());
  const int code = bad ? status_error : span.now == TaskState::completed ? status_ok : status_unset;
  JsonObject document;
  document.number("code", code);
  if (bad) document.text("message", span.reason);
  return document.str();
}

std::string span_json(const AttemptSpan& span) {
  const auto& context = span.context;
  JsonObject document;
  document.text("traceId", context.trace.empty() ? hex(span.task) : context.trace);
  document.text("spanId", span_id(span));
  if (!context.parent.empty()) document.text("parentSpanId", context.parent);
  document.text("name", span.kind)
      .number("kind", kind_consumer)
      .text("startTimeUnixNano", nanoseconds(span.began))
      .text("endTimeUnixNano", nanoseconds(span.ended))
      .json("attributes", json_list({attribute("messaging.system", "holdfast"),
                                     attribute("messaging.destination.name", span.queue),
                                     attribute("messaging.message.id", span.task.text()),
                                     attribute("holdfast.kind", span.kind),
                                     attribute("holdfast.attempt", span.attempt),
                                     attribute("holdfast.token", span.token.value),
                                     attribute("holdfast.state", to_string(span.now))}))
      .json("status", status(span));
  return document.str();
}

}  // namespace

std::string otlp_json(std::span<const AttemptSpan> spans, const std::string& service,
                      const std::string& store) {
  std::vector<std::string> documents;
  for (const auto& span : spans) documents.push_back(span_json(span));
  const auto scope = JsonObject{}
                         .json("scope", JsonObject{}.text("name", "holdfast").str())
                         .json("spans", json_list(documents))
                         .str();
  const auto resource =
      json_list({attribute("service.name", service), attribute("holdfast.store", store),
                 attribute("process.pid", std::int64_t{::getpid()})});
  const auto of_resource = JsonObject{}
                               .json("resource", JsonObject{}.json("attributes", resource).str())
                               .json("scopeSpans", json_list({scope}))
                               .str();
  return JsonObject{}.json("resourceSpans", json_list({of_resource})).str();
}

}  // namespace holdfast
