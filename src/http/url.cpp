#include "http/url.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <boost/url.hpp>
#include <holdfast/error.hpp>

#include "http/address.hpp"
#include "http/headers.hpp"
#include "http/url_characters.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::http {

namespace {

namespace urls = boost::urls;

urls::url parse(std::string_view text) {
  const auto whole = escaped(text);
  auto parsed = urls::parse_uri_reference(whole);
  // Of a port with letters in it, Boost takes the rest for the path.
  const bool good =
      parsed.has_value() && (!parsed->has_authority() || parsed->encoded_path().empty() ||
                             parsed->encoded_path().front() == '/');
  if (!good)
    throw NotAUrl{fmt::format("'{}' is not a URL: {}", plain(without_query(text)),
                              what_is_wrong_with(whole))};
  return urls::url{*parsed};
}

std::string text_of(const urls::url& url) { return {url.buffer().data(), url.buffer().size()}; }

bool is_absolute(std::string_view url) {
  auto lowered = lower(url.substr(0, 8));
  return lowered.starts_with("http://") || lowered.starts_with("https://");
}

/// Nothing in it that could be wrong in what follows the host of a URL.
bool is_unremarkable(std::string_view rest) {
  constexpr std::string_view signs = "-._~/=&?";
  return (rest.empty() || rest.front() == '/' || rest.front() == '?') &&
         std::ranges::all_of(rest, [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  signs.find(c) != signs.npos;
         });
}

/// 0: none that can be used. Boost's own number is a wrong one where it is too large.
int port_of(urls::url_view url) {
  const std::string text{url.port().data(), url.port().size()};
  constexpr int largest = 65'535;
  const int port = text.empty() || text.size() > 5 ? 0 : std::stoi(text);
  return port > largest ? 0 : port;
}

Origin read_origin(std::string_view text) {
  auto url = parse(text);
  Origin origin;
  origin.scheme = lower({url.scheme().data(), url.scheme().size()});
  if (origin.scheme != "http" && origin.scheme != "https")
    throw InvalidRequest{
        fmt::format("'{}' is not an http or https URL", plain(without_query(text)))};
  // A user name in a URL would be in logs and histories; that is what headers are for.
  if (url.has_userinfo())
    throw InvalidRequest{"a URL must not have a user name or password; use a secret header"};
  origin.host = lower(url.host_address());
  if (origin.host.empty())
    throw InvalidRequest{fmt::format("'{}' names no host", plain(without_query(text)))};
  origin.port = origin.scheme == "https" ? 443 : 80;
  if (!url.port().empty()) {
    origin.port = port_of(url);
    if (origin.port == 0)
      throw InvalidRequest{fmt::format("'{}' has no usable port", plain(without_query(text)))};
  }
  origin.is_address = Address::parse(origin.host).has_value();
  // Percent-encoded, anything could be in it.
  if (!origin.is_address && !could_be_host(origin.host))
    throw NotAUrl{fmt::format("'{}' is not a URL: its host has characters that no name has",
                              plain(without_query(text)))};
  return origin;
}

}  // namespace

std::string without_query(std::string_view url) {
  return std::string{url.substr(0, url.find_first_of("?#"))};
}

Origin origin_of(std::string_view url) {
  // The same hosts are asked again and again, and to read a URL takes longer than to compare it.
  thread_local std::string last_front;
  thread_local Origin last;
  if (!last_front.empty() && url.starts_with(last_front) &&
      is_unremarkable(url.substr(last_front.size())))
    return last;
  auto origin = read_origin(url);
  auto path = std::min(url.find_first_of("/?#", url.find("://") + 3), url.size());
  last_front = url.substr(0, path);
  last = origin;
  return origin;
}

bool could_be_host(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

bool ends_in_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  host.remove_prefix(host.rfind('.') + 1);
  return host.starts_with("0x") || host.find_first_not_of("0123456789") == host.npos;
}

bool is_plainly_written(std::string_view url, const Origin& origin) {
  auto begin = origin.scheme.size() + 3;
  if (url.substr(begin, origin.host.size()) != origin.host) return false;
  bool plain = std::ranges::all_of(origin.host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
  });
  // Such as 0x7f.1, which some take for an address.
  auto last = origin.host.substr(origin.host.rfind('.') + 1);
  bool is_name = !last.empty() && last.front() >= 'a' && last.front() <= 'z';
  auto rest = url.substr(begin + origin.host.size());
  if (rest.starts_with(':'))
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789", 1), rest.size()));
  return plain && (is_name || origin.is_address) && (rest.empty() || rest.starts_with('/'));
}

bool is_place(std::string_view text) {
  const auto parsed = urls::parse_uri({text.data(), text.size()});
  if (parsed.has_error()) return false;
  const auto& url = *parsed;
  const bool has_path = !url.encoded_path().empty() && url.encoded_path() != "/";
  const bool good_port = url.port().empty() || port_of(url) != 0;
  return !url.host().empty() && good_port && !has_path && !url.has_query() && !url.has_fragment();
}

std::string join_url(std::string_view base, std::string_view path) {
  if (base.empty() || is_absolute(path)) return std::string{path};
  // What is before the query of the base, with exactly one slash between the two.
  auto query_at = base.find_first_of("?#");
  auto front = base.substr(0, query_at);
  if (path.empty()) return std::string{base};
  if (path.front() == '?') return std::string{front} + std::string{path};
  while (front.ends_with('/')) front.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  return fmt::format("{}/{}", front, path);
}

std::string with_parameters(std::string_view text, const Parameters& params) {
  if (params.empty()) return std::string{text};
  auto url = parse(text);
  std::string query{url.encoded_query().data(), url.encoded_query().size()};
  // Boost.URL leaves a plus sign as it is, which servers read as a space.
  for (const auto& [name, value] : params)
    query +=
        fmt::format("{}{}={}", query.empty() ? "" : "&", urls::encode(name, urls::unreserved_chars),
                    urls::encode(value, urls::unreserved_chars));
  url.set_encoded_query(query);
  return text_of(url);
}

std::string resolve(std::string_view text, std::string_view location) {
  urls::url resolved;
  auto result = urls::resolve(parse(text), parse(location), resolved);
  if (result.has_error())
    throw NotAUrl{fmt::format("'{}' leads nowhere", plain(without_query(location)))};
  resolved.remove_fragment();
  auto answer = text_of(resolved);
  origin_of(answer);
  return answer;
}

}  // namespace holdfast::http
