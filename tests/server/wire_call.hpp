#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <boost/json/value.hpp>

namespace holdfast::test {

using Headers = std::map<std::string, std::string>;

struct Answer {
  int status = 0;
  Headers headers{};  ///< names in lower case
  std::string body{};
  boost::json::value json() const;
  std::string code() const;  ///< of a problem
};

/// A socket to a server on loopback.
class Wire {
 public:
  explicit Wire(int port);
  Wire(Wire&& other) noexcept
      : file_{std::exchange(other.file_, -1)}, kept_{std::move(other.kept_)} {}
  ~Wire();
  /// False: the other side has closed.
  bool send(const std::string& bytes) const;
  /// Reads until `end` was read; what was read so far if that never comes.
  std::string until(const std::string& end);
  /// Reads until the other side closes or half a minute has passed.
  std::string rest();
  /// Reads one whole answer.
  Answer answer();

 private:
  std::optional<std::string> more();

  int file_;
  std::string kept_;
};

/// Bytes of a request, whole and well formed.
std::string request_text(const std::string& method, const std::string& target,
                         const std::string& body, const Headers& headers);
Answer call(int port, const std::string& method, const std::string& target,
            const std::string& body = {}, const Headers& headers = {});

}  // namespace holdfast::test
