#include "cli/row_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "exec/child_process.hpp"
#include "exec/environment.hpp"

namespace holdfast::cli {

namespace {

/// So often we look whether the row is to stop while the program thinks.
constexpr int between_looks_ms = 50;
constexpr std::size_t longest_answer = 16'000'000;

struct Pipe {
  Descriptor reader, writer;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error{errno, std::system_category(), "cannot make a pipe for a program"};
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// What the program says on standard error is for people: it goes where ours goes. False: it has
/// closed it.
bool pass_on_errors(int from) {
  char buffer[4096];
  auto got = ::read(from, buffer, sizeof buffer);
  for (; got > 0; got = ::read(from, buffer, sizeof buffer))
    std::fwrite(buffer, 1, static_cast<std::size_t>(got), stderr);
  return got != 0;
}

}  // namespace

/// One running program.
class RowProgram::Conversation {
 public:
  /// `lock` is -1 or the lock that the program inherits; see `Attempt::open_shared_lock`.
  Conversation(const Program& program, const GroupGuard& guard, Descriptor lock)
      : Conversation{make_pipe(), program, guard, std::move(lock)} {}

  int lock() const { return lock_.get(); }

  /// It said something that it was not asked for: what comes next cannot be told from an answer.
  bool is_out_of_step() {
    std::string_view nothing;
    std::string why;
    while (heard_.empty() && has_output())
      if (!exchange(nothing, why)) return true;
    return !heard_.empty();
  }

  /// The answer; nothing: it ended, and `why` says how.
  std::optional<std::string> ask(const std::string& question, std::stop_token stop,
                                 std::string& why) {
    std::string_view unsent{question};
    while (true) {
      if (auto end = heard_.find('\n'); end != heard_.npos && unsent.empty()) {
        auto answer = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return answer;
      }
      if (stop.stop_requested()) {
        why = "it had not answered when the row was to stop";
        return {};
      }
      if (!exchange(unsent, why)) return {};
    }
  }

  /// Nothing: it has not ended, or a signal ended it.
  std::optional<int> exit_code() const { return exit_code_; }

 private:
  Conversation(Pipe pipe, const Program& program, const GroupGuard& guard, Descriptor lock)
      : lock_{std::move(lock)},
        child_{ChildProcess::start(program, pipe.reader.get(), lock_.get(), &guard)},
        input_{std::move(pipe.writer)} {
    ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
  }

  bool has_output() const {
    pollfd output{child_.output(), POLLIN, 0};
    return ::poll(&output, 1, 0) > 0;
  }

  /// Writes and reads what can be; false: the program is gone.
  bool exchange(std::string_view& unsent, std::string& why) {
    pollfd events[] = {{child_.output(), POLLIN, 0},
                       {says_errors_ ? child_.errors() : -1, POLLIN, 0},
                       {unsent.empty() ? -1 : input_.get(), POLLOUT, 0}};
    if (::poll(events, 3, between_looks_ms) < 0 && errno != EINTR) return ended(why);
    if (events[1].revents != 0) says_errors_ = pass_on_errors(child_.errors());
    if ((events[2].revents & (POLLERR | POLLHUP)) != 0) return ended(why);
    if (events[2].revents != 0) {
      auto sent = ::write(input_.get(), unsent.data(), unsent.size());
      if (sent > 0) unsent.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return ended(why);
    }
    if (events[0].revents == 0) return true;
    char buffer[65'536];
    auto got = ::read(child_.output(), buffer, sizeof buffer);
    if (got > 0) heard_.append(buffer, static_cast<std::size_t>(got));
    if (heard_.size() > longest_answer) {
      why = "its answer has no end";
      return false;
    }
    if (got == 0) return ended(why);
    return true;
  }

  bool ended(std::string& why) {
    pass_on_errors(child_.errors());
    auto ending = child_.reap();
    if (!ending.by_signal) exit_code_ = ending.number;
    why = fmt::format("it ended with {} {}", ending.by_signal ? "signal" : "exit code",
                      ending.number);
    return false;
  }

  Descriptor lock_;
  ChildProcess child_;
  Descriptor input_;
  std::string heard_;
  bool says_errors_ = true;
  std::optional<int> exit_code_{};
};

RowProgram::RowProgram(const std::string& line, const std::vector<std::string>& passed)
    : program_{"/bin/sh", {"sh", "-c", line}, program_environment(passed)} {
  expect_program({line}, false);
  expect_passable(passed);
  // A program that is gone is noticed by what writing to it returns.
  ::signal(SIGPIPE, SIG_IGN);
}

RowProgram::~RowProgram() = default;

RowProgram::Conversation& RowProgram::conversation(const RowAttempt& row) {
  std::lock_guard lock{mutex_};
  auto& own = conversations_[std::this_thread::get_id()];
  if (own && own->is_out_of_step()) {
    fmt::print(stderr,
               "holdfast: the program says more than one line for a row; starting it anew\n");
    own.reset();
  }
  try {
    if (!own) {
      Descriptor inherited{row.open_shared_lock ? row.open_shared_lock() : -1};
      own = std::make_unique<Conversation>(program_, guard_, std::move(inherited));
    }
  } catch (const std::system_error& error) {
    throw CannotBegin{error.what()};
  } catch (const StoreError& error) {
    throw CannotBegin{error.what()};
  }
  return *own;
}

void RowProgram::end_conversation() {
  std::lock_guard lock{mutex_};
  conversations_.erase(std::this_thread::get_id());
}

RowResult RowProgram::process(const RowAttempt& row) {
  std::string why;
  auto& talk = conversation(row);
  try {
    // From now on nobody runs this row as long as the program is there.
    if (row.share_lock && talk.lock() >= 0) row.share_lock(talk.lock());
  } catch (const StoreError& error) {
    throw CannotBegin{error.what()};
  }
  auto answer = talk.ask(line_for(row), row.stop, why);
  if (!answer) {
    const auto ended = talk.exit_code();
    end_conversation();
    const auto& line = program_.arguments.back();
    if (ended && shell_lacks({line}, false, *ended))
      throw CannotBegin{fmt::format("the shell cannot run '{}'", line)};
    throw RetryRow{fmt::format("the program did not answer: {}", why)};
  }
  try {
    return result_of_line(*answer, row.idempotency_key);
  } catch (const InvalidRequest& error) {
    // Its next line may be the answer to this row.
    end_conversation();
    return row_failed("bad_answer", fmt::format("the program answered something else than a "
                                                "result: {}",
                                                error.what()));
  }
}

}  // namespace holdfast::cli
