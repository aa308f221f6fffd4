#pragma once

#include <map>
#include <string>
#include <string_view>

#include <holdfast/http/request.hpp>

namespace holdfast::objects {

/// By name, in the order that signatures want them in. Values are as they are meant.
using Query = std::map<std::string, std::string>;

/// What is asked of a service.
struct Request {
  std::string method = "GET";
  std::string path;  ///< as it is sent
  Query query{};
  http::Headers headers{};   ///< with lower-case names
  std::string_view body{};   ///< has to stay where it is until there is a reply
  std::string more_query{};  ///< goes to the end of the query as it is
};

struct Reply {
  int status = 0;
  http::Headers headers{};
  std::string body{};
  std::string header(const std::string& name) const {
    auto at = headers.find(name);
    return at == headers.end() ? std::string{} : at->second;
  }
};

/// Everything but letters, digits and `-_.~` becomes `%` and two digits.
std::string encoded(std::string_view text);
/// `a=1&b=%2F`
std::string encoded(const Query& query);

}  // namespace holdfast::objects
