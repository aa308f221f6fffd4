#pragma once

#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace holdfast::test {

/// A program on a terminal of its own, with a person before it.
class PtyProcess {
 public:
  PtyProcess(std::vector<std::string> command, int rows, int columns);
  ~PtyProcess();
  PtyProcess(const PtyProcess&) = delete;
  PtyProcess& operator=(const PtyProcess&) = delete;

  void type(const std::string& keys) const;
  void resize(int rows, int columns) const;
  /// Reads what it prints until that has `text` in it; everything since the last call. Nothing if
  /// it does not come in time.
  std::optional<std::string> read_until(const std::string& text);
  /// Reads to its end.
  std::optional<Ending> wait();
  /// Whether it stands still (Ctrl-Z), within a while.
  bool stopped() const;
  void go_on() const;
  std::string rest();  ///< what was printed and not read yet

  termios attributes() const;

 private:
  bool read_more(std::chrono::milliseconds limit);

  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string printed_;
};

}  // namespace holdfast::test
