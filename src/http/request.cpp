#include <holdfast/http/request.hpp>

#include <fmt/format.h>
#include <boost/json/serialize.hpp>
#include <holdfast/error.hpp>
#include <holdfast/http/client.hpp>
#include <holdfast/tasks.hpp>

#include "http/headers.hpp"
#include "http/url.hpp"

namespace holdfast::http {

namespace {

constexpr std::size_t longest_url = 16'000;
constexpr std::size_t longest_secret_name = 200;
constexpr Millis longest_timeout = std::chrono::hours{24};
constexpr Millis longest_patience = 365 * longest_timeout;
constexpr int most_redirects = 50;

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw InvalidRequest{fmt::format(format, std::forward<Args>(args)...)};
}

/// What is ours to say, would make two requests out of one, or is for a proxy and nobody else.
void check_ours(const std::string& name) {
  for (auto ours :
       {"content-length", "transfer-encoding", "host", "connection", "proxy-authorization"})
    if (lower(name) == ours) refuse("the header '{}' is set by the processor", ours);
}

}  // namespace

void validate(const Request& request) {
  if (request.url.size() > longest_url)
    refuse("the URL has {} bytes; at most {} are allowed", request.url.size(), longest_url);
  origin_of(request.url);
  for (const auto& [name, value] : request.headers) {
    check_header(name, value);
    check_ours(name);
  }
  for (const auto& [name, secret] : request.secret_headers) {
    check_header(name, "");
    check_ours(name);
    if (secret.empty() || secret.size() > longest_secret_name)
      refuse("the secret of header '{}' needs a name of 1 to {} bytes", name, longest_secret_name);
    if (request.headers.contains(lower(name)))
      refuse("header '{}' has a value and a secret; keep one", name);
  }
  bool may_have_body = request.method == Method::post || request.method == Method::put ||
                       request.method == Method::patch;
  if (!request.body.empty() && !may_have_body)
    refuse("a {} request has no body", to_string(request.method));
  if (request.timeout && (*request.timeout <= Millis{0} || *request.timeout > longest_timeout))
    refuse("the timeout is {} ms; 1 to {} (a day) is allowed", request.timeout->count(),
           longest_timeout.count());
  if (request.host_patience &&
      (*request.host_patience < Millis{0} || *request.host_patience > longest_patience))
    refuse("the patience with its host is {} ms; 0 to {} (a year) is allowed",
           request.host_patience->count(), longest_patience.count());
  if (request.max_redirects &&
      (*request.max_redirects < 0 || *request.max_redirects > most_redirects))
    refuse("max redirects is {}; 0 to {} is allowed", *request.max_redirects, most_redirects);
  // Where the answer could not be delivered, it is too late to say so.
  if (!request.callback.empty()) {
    NewTask callback{request.callback, "{}"};
    if (!request.callback_queue.empty()) callback.options.queue = request.callback_queue;
    // Deeper in the answer than in the request.
    if (request.context.is_structured())
      callback.payload = fmt::format(R"({{"response":{{"context":{}}}}})",
                                     boost::json::serialize(request.context));
    holdfast::validate(callback, {});
  }
}

}  // namespace holdfast::http
