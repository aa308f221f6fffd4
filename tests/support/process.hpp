#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

/// How a process ended: by itself with a code, or by a signal.
struct Ending {
  int code = -1;
  int signal = 0;
  bool ok() const { return signal == 0 && code == 0; }
  /// As a worker ends that was told to leave: well, or of the signal itself if it had only just
  /// been started and did not listen yet.
  bool left() const { return ok() || signal == SIGTERM; }
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// A child process. Dies with this object, so that a failing test leaves nothing behind. What it
/// prints is kept and can be read at any time.
class Process {
 public:
  /// `command[0]` is a path. `extra` is added to this process's own environment; `input` is what
  /// the child reads on standard input.
  explicit Process(const std::vector<std::string>& command, const Environment& extra = {},
                   const std::string& input = {});
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int number) const;
  /// SIGSTOP, and wait until all its threads stand still.
  void stop() const;
  /// Waits for its end; nothing if it is still running after `limit`.
  std::optional<Ending> wait(std::chrono::milliseconds limit = std::chrono::seconds{60});
  /// SIGKILL, and wait.
  void kill();

  std::string out() const;
  std::string err() const;

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::optional<Ending> ending_{};
};

struct Finished {
  Ending ending;
  std::string out;
  std::string err;
};

/// Runs a program to its end (killed after a minute, which `ending.signal` then shows).
Finished run(const std::vector<std::string>& command, const Environment& extra = {},
             const std::string& input = {});

/// Looks every few milliseconds until `condition` holds; false if it does not within `limit`.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds{20});

}  // namespace holdfast::test
