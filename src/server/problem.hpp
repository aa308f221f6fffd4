#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/request.hpp"

namespace holdfast::server {

/// What is wrong with a request, or with us. Thrown by handlers, answered as problem+json.
class Problem : public std::runtime_error {
 public:
  Problem(int status, std::string_view code, const std::string& detail)
      : std::runtime_error{detail}, status_{status}, code_{code} {}
  int status() const { return status_; }
  const std::string& code() const { return code_; }

  /// A header that belongs to the answer, such as what is allowed instead.
  Problem with(std::string name, std::string value) && {
    headers_.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
  }
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }

 private:
  int status_;
  std::string code_;
  std::vector<std::pair<std::string, std::string>> headers_{};
};

/// What the errors of the library are to a caller.
Problem problem_for(const std::exception& error);
Response answer_for(const Problem& problem);

/// The request makes no sense: what, and what would.
Problem invalid(const std::string& detail);
Problem not_found(const std::string& detail);

}  // namespace holdfast::server
