#include "traces/collector.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <boost/url/parse.hpp>

#include <holdfast/error.hpp>

namespace holdfast {

namespace {

constexpr long largest_answer = 64 * 1024;

/// Nobody reads what a collector has to say, and it is not to say much.
std::size_t ignore_body(char*, std::size_t size, std::size_t count, void* seen) {
  auto& bytes = *static_cast<long*>(seen);
  bytes += static_cast<long>(size * count);
  return bytes > largest_answer ? 0 : size * count;
}

bool is_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
  });
}

/// What could end a header and begin another one must not be in it. The value may be a secret, so
/// no message has it.
void check_header(const std::string& name, const std::string& value) {
  if (!is_name(name)) throw ConfigError{fmt::format("'{}' is not the name of a header", name)};
  if (std::ranges::any_of(value, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    throw ConfigError{fmt::format("the value of the header {} has control characters", name)};
}

}  // namespace

std::string traces_address(const std::string& endpoint, bool exact) {
  const auto url = boost::urls::parse_uri(endpoint);
  if (!url || (url->scheme() != "http" && url->scheme() != "https") || url->host().empty() ||
      url->has_query() || url->has_fragment())
    throw ConfigError{fmt::format(
        "'{}' is not the address of a collector for traces; write http://HOST:4318", endpoint)};
  // Addresses are shown by commands, in settings and in logs.
  if (url->has_userinfo())
    throw ConfigError{
        "the address of a collector for traces has a password in it; send it as a header instead"};
  if (exact) return endpoint;
  const std::string path = "/v1/traces";
  auto address = endpoint;
  while (address.ends_with('/')) address.pop_back();
  return address.ends_with(path) ? address : address + path;
}

Collector::Collector(std::string address,
                     const std::vector<std::pair<std::string, std::string>>& headers)
    : address_{std::move(address)} {
  for (const auto& [name, value] : headers) check_header(name, value);
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  handle_ = initialised == CURLE_OK ? curl_easy_init() : nullptr;
  if (!handle_) throw Error{"libcurl could not be set up"};
  headers_ = curl_slist_append(headers_, "Content-Type: application/json");
  headers_ = curl_slist_append(headers_, "Expect:");
  for (const auto& [name, value] : headers)
    headers_ = curl_slist_append(headers_, fmt::format("{}: {}", name, value).c_str());
}

Collector::~Collector() {
  curl_easy_cleanup(handle_);
  curl_slist_free_all(headers_);
}

Sending Collector::send(const std::string& document, std::chrono::milliseconds limit) {
  long answer_bytes = 0;
  curl_easy_setopt(handle_, CURLOPT_URL, address_.c_str());
  curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers_);
  curl_easy_setopt(handle_, CURLOPT_POSTFIELDS, document.data());
  curl_easy_setopt(handle_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(document.size()));
  curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(limit.count()));
  curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle_, CURLOPT_USERAGENT, "holdfast");
  curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, &ignore_body);
  curl_easy_setopt(handle_, CURLOPT_WRITEDATA, &answer_bytes);
  if (curl_easy_perform(handle_) != CURLE_OK) return Sending::away;
  long status = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300) return Sending::taken;
  // The four that the protocol names for trying again.
  const bool later = status == 429 || status == 502 || status == 503 || status == 504;
  return later ? Sending::away : Sending::refused;
}

}  // namespace holdfast
