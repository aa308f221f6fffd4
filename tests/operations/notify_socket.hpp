#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// systemd's end of the socket that services tell how they are doing.
class NotifySocket {
 public:
  explicit NotifySocket(std::string path);
  ~NotifySocket();
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  const std::string& path() const { return path_; }
  /// The next message; nothing if none comes in time.
  std::optional<std::string> next(std::chrono::milliseconds limit = std::chrono::seconds{60});
  /// Everything up to a message with a line that begins like that, which fails the test if it does
  /// not come.
  std::vector<std::string> until(const std::string& begin);

 private:
  std::string path_;
  int socket_ = -1;
};

}  // namespace holdfast::test
