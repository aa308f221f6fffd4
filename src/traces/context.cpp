#include "traces/context.hpp"

#include <algorithm>
#include <string_view>

#include <holdfast/traces.hpp>

namespace holdfast {

namespace {

constexpr std::string_view trace_tag = "trace-", span_tag = "span-";
constexpr std::size_t trace_digits = 32, span_digits = 16;

/// An id of so many digits, of which not all may be zeros.
bool is_id(std::string_view text, std::size_t digits) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == digits && std::ranges::all_of(text, hex) &&
         text.find_first_not_of('0') != text.npos;
}

}  // namespace

std::vector<std::string> trace_tags(std::string_view traceparent) {
  // Two digits of version, the ids, two digits of flags; later versions may have more after that.
  constexpr std::size_t trace_at = 3, span_at = trace_at + trace_digits + 1,
                        flags_at = span_at + span_digits + 1, size = flags_at + 2;
  if (traceparent.size() < size || traceparent.starts_with("ff")) return {};
  if (traceparent.starts_with("00") && traceparent.size() != size) return {};
  for (const auto dash : {trace_at - 1, span_at - 1, flags_at - 1})
    if (traceparent[dash] != '-') return {};
  const auto trace = traceparent.substr(trace_at, trace_digits);
  const auto span = traceparent.substr(span_at, span_digits);
  if (!is_id(trace, trace_digits) || !is_id(span, span_digits)) return {};
  return {std::string{trace_tag}.append(trace), std::string{span_tag}.append(span)};
}

TraceContext trace_context(const std::vector<std::string>& tags) {
  TraceContext context;
  for (const std::string_view tag : tags) {
    if (tag.starts_with(trace_tag) && is_id(tag.substr(trace_tag.size()), trace_digits))
      context.trace = tag.substr(trace_tag.size());
    if (tag.starts_with(span_tag) && is_id(tag.substr(span_tag.size()), span_digits))
      context.parent = tag.substr(span_tag.size());
  }
  if (context.trace.empty()) context.parent.clear();
  return context;
}

}  // namespace holdfast
