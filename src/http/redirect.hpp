#pragma once

#include <string>
#include <variant>
#include <vector>

#include <holdfast/http/response.hpp>

namespace holdfast::http {

/// The answer stands: it is no redirect, or one that is not to be followed.
struct Stay {};
struct Follow {
  Method method = Method::get;
  std::string url;
  bool keep_body = false;
  bool same_origin = true;
};
struct WrongTurn {
  ErrorType type = ErrorType::too_many_redirects;
  std::string message;
};

/// What was sent, and to where.
struct SentHop {
  std::string url;
  Method method = Method::get;
  bool has_body = false;
};

/// What to do with an answer of `status` whose header `location` says where to go. `redirects` are
/// the hops before this one. A body is never sent on to another origin.
std::variant<Stay, Follow, WrongTurn> decide_redirect(int status, const std::string& location,
                                                      const SentHop& sent,
                                                      const std::vector<std::string>& redirects,
                                                      int max_redirects);

bool is_redirect(int status);

}  // namespace holdfast::http
