#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/audit.hpp"

namespace holdfast::server {

/// Failed logins that are not in the audit log yet, by user and address. Anybody can fail, as often
/// as they like, and each line of the log is synced: so lines are written at most every ten
/// seconds, at most four and one for all others, each with how often it happened. The first failure
/// after a quiet time is due at once. Memory is bounded: beyond 256 users and addresses only the
/// number is known. Not for several threads.
class FailedLogins {
 public:
  static constexpr Millis pause{10'000};

  struct Line {
    std::string user{};  ///< the name that was given; empty: the token, or the link
    std::string from{};  ///< empty: several addresses, in the line for all others
    std::string way{};   ///< `POST /v1/login`
    std::int64_t failed = 0;
    std::int64_t refused = 0;  ///< tried while they had to wait
  };

  void add(const std::string& way, const std::string& user, const std::string& from, bool refused);
  /// When lines may be written; nothing: there are none.
  std::optional<Millis> due() const;
  /// What to write, which is then forgotten.
  std::vector<Line> take(Millis now);
  /// It could not be written.
  void put_back(const Line& line);

 private:
  std::map<std::string, Line> lines_;
  Line others_{};
  Millis next_{0};
};

/// Writes into the audit log who logged in, out, or failed to. Safe to use from many threads.
class LoginAudit {
 public:
  /// `trouble` gets what people should read in the log of the server. Both must outlive this.
  LoginAudit(Audit& audit, std::function<void(const std::string&)> trouble);
  /// Writes what is not written yet.
  ~LoginAudit();
  LoginAudit(const LoginAudit&) = delete;
  LoginAudit& operator=(const LoginAudit&) = delete;

  /// On disk when it returns; throws `StoreError` if that cannot be.
  void in(const std::string& way, const std::string& user, const std::string& from);
  void out(const std::string& user, const std::string& from);
  /// Written at once or, in a flood, within ten seconds and together with others. Never throws
  /// because of the audit log: the caller has failed already, and writing is tried again.
  void failed(const std::string& way, const std::string& user, const std::string& from,
              bool refused);

 private:
  void flush();
  void run(const std::stop_token& stop);

  Audit& audit_;
  std::function<void(const std::string&)> trouble_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  FailedLogins waiting_;
  std::jthread thread_;
};

}  // namespace holdfast::server
