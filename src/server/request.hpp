#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/task.hpp>

#include "server/query.hpp"
#include "server/role.hpp"

namespace holdfast::server {

class SpooledFile;
class Subscription;
struct ProgramToken;

/// Who is asking.
struct Caller {
  enum class By { nobody, session, bearer, token, no_auth };

  std::string name{};
  Role role = Role::none;
  By by = By::nobody;
  std::string session{};                        ///< its id, where there is one
  std::shared_ptr<const ProgramToken> token{};  ///< of a program
};

/// A request, from whatever it came in.
struct Request {
  std::string method{};
  std::string path{};  ///< decoded, without the query
  Query query{};
  std::map<std::string, std::string> headers{};  ///< names in lower case
  std::string body{};
  std::string peer{};                           ///< the address of the caller
  bool secure = false;                          ///< it came by TLS
  std::map<std::string, std::string> places{};  ///< what stands for {id} in the path
  Caller caller{};
  /// When it came in, on the steady clock; requests that wait are asked again.
  Millis since{0};

  /// Empty if there is none.
  std::string_view header(std::string_view name) const;
  const std::string& place(const std::string& name) const { return places.at(name); }
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  /// The body, instead of `body`: something that this process has for as long as it runs.
  std::string_view fixed{};
  std::vector<std::pair<std::string, std::string>> headers{};
  /// There is no answer yet: ask again after so long. Waiting takes no thread.
  std::optional<Millis> again_in{};
  /// The body, instead of `body`.
  std::shared_ptr<SpooledFile> file{};
  /// Live events follow, without an end.
  std::shared_ptr<Subscription> events{};
  /// Somebody asked for what is hidden, and may see it.
  bool revealed = false;
  /// What the audit log says about the outcome, instead of the body.
  std::string for_audit{};
  std::shared_ptr<void> counted{};  ///< its bytes, as long as they are in memory

  std::string_view content() const { return fixed.empty() ? std::string_view{body} : fixed; }
};

Response json_response(std::string document, int status = 200);
Response no_content();

}  // namespace holdfast::server
