#include <holdfast/json_shape.hpp>

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast::detail {

namespace {

std::string_view name_of(boost::json::kind kind) {
  switch (kind) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "true or false";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_:
      return "a number";
    case boost::json::kind::string:
      return "a string";
    case boost::json::kind::array:
      return "an array";
    case boost::json::kind::object:
      return "an object";
  }
  return "something else";
}

std::string_view document_of(const JsonPlace& at) {
  return at.parent ? document_of(*at.parent) : at.member;
}

}  // namespace

std::string JsonPlace::path() const {
  if (!parent) return {};
  auto above = parent->path();
  if (member.empty()) return fmt::format("{}[{}]", above, index);
  return above.empty() ? std::string{member} : fmt::format("{}.{}", above, member);
}

void unfit(const JsonPlace& at, const std::string& why) {
  const auto path = at.path();
  throw UnfitPayload{fmt::format("{} does not fit its type: {}{}{}", document_of(at), path,
                                 path.empty() ? "" : ": ", why)};
}

void unfit(const JsonPlace& at, std::string_view expected, const boost::json::value& found) {
  unfit(at, fmt::format("expected {}, found {}", expected, name_of(found.kind())));
}

}  // namespace holdfast::detail
