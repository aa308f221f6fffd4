#include "server/problem.hpp"

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "documents/redact.hpp"

namespace holdfast::server {

namespace {

template <class Kind>
bool is(const std::exception& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

std::string_view title(int status) {
  switch (status) {
    case 400:
      return "The request makes no sense";
    case 401:
      return "Log in first";
    case 403:
      return "Not allowed";
    case 404:
      return "Not there";
    case 405:
      return "Not with this method";
    case 408:
      return "Too slow";
    case 409:
      return "Not in this state";
    case 413:
      return "Too large";
    case 415:
      return "Not JSON";
    case 421:
      return "Not this server";
    case 429:
      return "Too many attempts";
    case 431:
      return "Headers too large";
    case 503:
      return "Not now";
    case 507:
      return "No room";
    default:
      return "Something went wrong";
  }
}

}  // namespace

Problem problem_for(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Problem*>(&error)) return *known;
  if (is<InvalidRequest>(error)) return {400, "invalid_request", error.what()};
  if (is<LeaseLost>(error)) return {409, "lease_lost", error.what()};
  if (is<StoreReadOnly>(error)) return {409, "store_read_only", error.what()};
  if (is<StoreMoved>(error)) return {409, "store_moved", error.what()};
  if (is<StoreFull>(error)) return {507, "store_full", error.what()};
  if (is<StoreError>(error)) return {503, "store_away", error.what()};
  return {500, "internal", error.what()};
}

Response answer_for(const Problem& problem) {
  Response response;
  response.status = problem.status();
  response.content_type = "application/problem+json";
  response.headers = problem.headers();
  response.body = JsonObject{}
                      .text("type", "about:blank")
                      .text("title", title(problem.status()))
                      .number("status", problem.status())
                      .text("code", problem.code())
                      .text("detail", redact_text(problem.what()).text)
                      .str();
  return response;
}

Problem invalid(const std::string& detail) { return {400, "invalid_request", detail}; }
Problem not_found(const std::string& detail) { return {404, "not_found", detail}; }

}  // namespace holdfast::server
