#include "exec/supervise.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <vector>

namespace holdfast {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
constexpr auto never = SteadyTime::max();

enum class Stream { open, empty, closed };

/// Reads once. Not more, so that a program which talks without end cannot keep us from the rest.
template <class Sink>
Stream read_some(int fd, Sink sink) {
  thread_local std::vector<char> buffer(64 * 1024);
  auto count = ::read(fd, buffer.data(), buffer.size());
  if (count > 0) {
    sink(std::string_view{buffer.data(), static_cast<std::size_t>(count)});
    return Stream::open;
  }
  if (count < 0 && errno == EINTR) return Stream::open;
  if (count < 0 && errno == EAGAIN) return Stream::empty;
  return Stream::closed;
}

int milliseconds_until(SteadyTime deadline) {
  if (deadline == never) return -1;
  auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
}

}  // namespace

StopEvent::StopEvent(std::stop_token stop)
    : event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      on_stop_{std::move(stop), Signal{event_.get()}} {
  if (!event_) throw std::system_error{errno, std::system_category(), "cannot make an eventfd"};
}

void StopEvent::Signal::operator()() const {
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(event, &one, sizeof one);
}

Ending supervise(ChildProcess& child, const StopEvent& stopped, std::chrono::milliseconds grace,
                 Output& output) {
  auto on_output = [&](std::string_view bytes) { output.on_output(bytes); };
  auto on_errors = [&](std::string_view bytes) { output.on_errors(bytes); };
  auto kill_at = never;
  enum { program, asked_to_stop, said, complained };
  std::array<pollfd, 4> watched = {{{child.ended(), POLLIN, 0},
                                    {stopped.get(), POLLIN, 0},
                                    {child.output(), POLLIN, 0},
                                    {child.errors(), POLLIN, 0}}};
  while (true) {
    if (::poll(watched.data(), watched.size(), milliseconds_until(kill_at)) < 0) {
      if (errno == EINTR) continue;
      throw std::system_error{errno, std::system_category(), "cannot wait for a program"};
    }
    if (watched[program].revents) break;
    if (watched[asked_to_stop].revents) {
      child.signal_group(SIGTERM);
      child.signal_group(SIGCONT);  // a stopped process would not hear it
      kill_at = std::chrono::steady_clock::now() + grace;
      watched[asked_to_stop].fd = -1;
    }
    if (std::chrono::steady_clock::now() >= kill_at) {
      child.signal_group(SIGKILL);
      kill_at = never;
    }
    if (watched[said].revents && read_some(child.output(), on_output) == Stream::closed)
      watched[said].fd = -1;
    if (watched[complained].revents && read_some(child.errors(), on_errors) == Stream::closed)
      watched[complained].fd = -1;
  }
  auto ending = child.reap();
  // A pipe holds all that the program wrote before its end. Nobody waits for the end of the stream:
  // a process that left the group may keep it open for ever.
  while (read_some(child.output(), on_output) == Stream::open) continue;
  while (read_some(child.errors(), on_errors) == Stream::open) continue;
  output.finish();
  return ending;
}

}  // namespace holdfast
