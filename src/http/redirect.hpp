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
  bool keep_credentials = true;  ///< false: another origin
};
struct WrongTurn {
  ErrorType type = ErrorType::too_many_redirects;
  std::string message;
};

/// What to do with an answer of `status` whose header `location` says where to go. `redirects` are
/// the hops before this one.
std::variant<Stay, Follow, WrongTurn> decide_redirect(int status, const std::string& location,
                                                      const std::string& url, Method method,
                                                      const std::vector<std::string>& redirects,
                                                      int max_redirects);

bool is_redirect(int status);

/// Headers that must not go to another origin.
bool is_credential(std::string_view header);

}  // namespace holdfast::http
