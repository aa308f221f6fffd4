#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/token.hpp"

namespace holdfast::server {

/// Something that another process did to the file, for the audit log.
struct TokenChange {
  WallTime at{};
  std::string who{};
  std::string what{};  ///< `token add NAME`, `token revoke NAME`
  std::string details{};
};

/// The credentials of programs: a file with a line of JSON for each. It is read again when it has
/// changed, so that a token that was revoked is refused at once. A line that cannot be read is no
/// token and is kept as it is; the other lines count. Safe to use from many threads, and the file
/// from many processes: each change is made under a lock and in one step.
class Tokens {
 public:
  /// A file that is not there has no tokens.
  explicit Tokens(std::string path) : path_{std::move(path)} {}

  struct Listed {
    std::vector<ProgramToken> tokens{};
    std::vector<std::string> faults{};  ///< which lines cannot be read, and why
  };
  /// Throws `ConfigError` if the file cannot be read, or somebody else could have written it: then
  /// no token counts. So do all below.
  Listed list();

  /// The token with this secret; throws `Problem` 401 if there is none that is active.
  std::shared_ptr<const ProgramToken> find(std::string_view secret, WallTime now);
  /// Whether a token that was found earlier still is active.
  bool is_active(const ProgramToken& token, WallTime now);
  /// In this process, since it began.
  std::optional<WallTime> last_used(const ProgramToken& token);

  struct Made {
    ProgramToken token{};
    std::string secret{};  ///< is kept nowhere
  };
  /// Makes a token; its fingerprint is not looked at. Throws `InvalidRequest` if it is not valid,
  /// or there is an active one of that name. One that expired or was revoked is replaced.
  Made add(ProgramToken token);
  /// Nothing: there is no active token of that name.
  std::optional<ProgramToken> revoke(const std::string& name, const std::string& by, WallTime now);

  /// What others changed since the last time this was called; at first, what they changed after
  /// `since`.
  std::vector<TokenChange> changes(WallTime since);

 private:
  struct Line {
    std::string text{};
    std::shared_ptr<const ProgramToken> token{};  ///< nothing: it cannot be read
  };

  void refresh();
  void read();
  void save();

  std::string path_;
  std::mutex mutex_;
  std::string read_at_{};  ///< what the file looked like when it was read
  bool was_read_ = false;
  std::vector<Line> lines_;
  std::vector<std::string> faults_;
  std::map<std::string, std::shared_ptr<const ProgramToken>, std::less<>> by_fingerprint_;
  std::map<std::string, WallTime> used_;  ///< by fingerprint
  std::optional<std::map<std::string, ProgramToken>>
      known_{};  ///< by fingerprint: the audit log has it
};

/// What is wrong with the file, for those who run the server: also where it cannot be used at all.
std::vector<std::string> faults_of(Tokens& tokens);

}  // namespace holdfast::server
