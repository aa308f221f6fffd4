#pragma once

#include <chrono>
#include <string>

#include "support/process.hpp"

namespace holdfast::test {

/// The wall clock of a server that a test started, which the test sets while the server runs, by
/// libfaketime and a file. Clocks that never jump stay as they are.
class ServerClock {
 public:
  /// Right at first. The folder is one that the server may look into.
  explicit ServerClock(const std::string& folder);
  void set(std::chrono::seconds ahead) const;

  /// What the server is to be started with.
  Environment environment() const;
  /// The same as words for a shell.
  std::string words() const;

 private:
  std::string file_;
};

}  // namespace holdfast::test
