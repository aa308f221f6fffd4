#pragma once

#include <map>
#include <mutex>
#include <string>

#include <holdfast/task.hpp>

namespace holdfast::server {

/// Makes guessing passwords slow, per address and per user. Only failed logins by POST count.
///
/// - An address has five failures free, whatever users it names. Then it waits after each: a
///   second, two, four, up to a minute. An IPv6 network of 64 bits is one address: it is what one
///   customer gets.
/// - A user who is being guessed at from everywhere (20 failures within the time below) has no free
///   failures: an address that fails for that user waits a minute after each of its failures, and
///   five minutes once there were 100.
///
/// The second rule never makes an address wait that has not failed for this user itself. So an
/// attacker elsewhere cannot lock a user out: from an address of their own people get in with
/// the right password at once, and after a typing mistake within five minutes. The price is that
/// every new address has one guess; a limit over all addresses would have let attackers use it up.
///
/// A login that succeeds takes back only the failures of that user at that address: logging in as
/// oneself does not buy guesses at others. Failures are forgotten ten minutes after the last. At
/// most 10,000 of each are remembered; those with the fewest failures make room, so an attacker
/// cannot push out what counts against them with names or addresses that failed once.
///
/// Safe to use from many threads.
class LoginBrake {
 public:
  /// How long this address has to wait before it may try to be this user. `user` is empty where
  /// the token is tried.
  Millis wait(const std::string& user, const std::string& peer, Millis now);
  void failed(const std::string& user, const std::string& peer, Millis now);
  void succeeded(const std::string& user, const std::string& peer);

 private:
  struct Failures {
    int count = 0;
    Millis last{0};
  };
  using Table = std::map<std::string, Failures>;
  static Failures found(const Table& table, const std::string& key, Millis now);
  static void count(Table& table, const std::string& key, Millis now);
  static void make_room(Table& table, Millis now);

  std::mutex mutex_;
  Table addresses_;
  Table users_;
  Table pairs_;  ///< of a user and an address
};

}  // namespace holdfast::server
