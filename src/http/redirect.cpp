#include "http/redirect.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/url.hpp"

namespace holdfast::http {

namespace {

/// Many servers write spaces as they are, and nobody is there to correct them.
std::string without_spaces(std::string_view location) {
  std::string text;
  for (char c : location) {
    auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte != 0x7f)
      text += c;
    else
      text += fmt::format("%{:02X}", byte);
  }
  return text;
}

std::string unfollowed(const InvalidRequest& why) {
  return fmt::format("it was redirected to what cannot be followed: {}", why.what());
}

}  // namespace

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::variant<Stay, Follow, WrongTurn> decide_redirect(int status, const std::string& location,
                                                      const SentHop& sent,
                                                      const std::vector<std::string>& redirects,
                                                      int max_redirects) {
  if (!is_redirect(status) || location.empty() || max_redirects == 0) return Stay{};
  if (static_cast<int>(redirects.size()) >= max_redirects)
    return WrongTurn{ErrorType::too_many_redirects,
                     fmt::format("more than {} redirects, the last one to {}", max_redirects,
                                 without_query(location))};
  std::string next;
  try {
    next = resolve(sent.url, without_spaces(location));
  } catch (const NotAUrl& error) {
    return WrongTurn{ErrorType::unknown, unfollowed(error)};
  } catch (const InvalidRequest& error) {
    return WrongTurn{ErrorType::blocked_address, unfollowed(error)};
  }
  bool seen = next == sent.url || std::ranges::count(redirects, next) > 0;
  if (seen)
    return WrongTurn{ErrorType::recursive_redirect,
                     fmt::format("it was redirected to {} again", without_query(next))};
  const auto from = origin_of(sent.url), to = origin_of(next);
  if (from.scheme == "https" && to.scheme == "http")
    return WrongTurn{ErrorType::blocked_address,
                     fmt::format("it was redirected from https to {}", without_query(next))};
  Follow follow{.method = sent.method, .url = next, .same_origin = from == to};
  follow.keep_body = status == 307 || status == 308;
  if (follow.keep_body && sent.has_body && !follow.same_origin)
    return WrongTurn{
        ErrorType::blocked_address,
        fmt::format("it was redirected with status {} to {}, another origin, and its body is not "
                    "sent on to that; if it is meant for that server, send it there directly",
                    status, without_query(next))};
  if (!follow.keep_body && sent.method != Method::head) follow.method = Method::get;
  return follow;
}

}  // namespace holdfast::http
