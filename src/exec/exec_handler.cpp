#include "exec/exec_handler.hpp"

#include <sys/mman.h>
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "exec/environment.hpp"
#include "exec/supervise.hpp"

namespace holdfast {

namespace {

/// The payload as a file in memory: a program that does not read it, or closes its standard input
/// early, cannot block or fail a writer, because there is none.
Descriptor payload_file(const std::string& payload) {
  Descriptor file{::memfd_create("payload", MFD_CLOEXEC)};
  std::size_t written = 0;
  while (file && written < payload.size()) {
    auto count = ::write(file.get(), payload.data() + written, payload.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    written += static_cast<std::size_t>(count);
  }
  if (!file || written < payload.size() || ::lseek(file.get(), 0, SEEK_SET) != 0)
    throw std::system_error{errno, std::system_category(), "cannot hand over the payload"};
  return file;
}

std::string describe(const Ending& ending) {
  if (!ending.by_signal) return fmt::format("the program exited with code {}", ending.number);
  const char* name = ::sigdescr_np(ending.number);
  return fmt::format("the program was ended by signal {} ({})", ending.number,
                     name ? name : "unnamed");
}

Outcome outcome_of(const Ending& ending, bool asked_to_stop, const Output& output) {
  if (!ending.by_signal && ending.number == EX_OK) {
    // Running it again would only repeat its effects: the result would be as large.
    if (auto size = output.too_long_result())
      return fail(
          fmt::format("the program was done, but its result, the last line that it wrote, "
                      "has {} bytes; queue.limits.resultBytes says how many are allowed",
                      *size));
    return Done{.result = {}, .text = output.result()};
  }
  auto reason = describe(ending);
  if (asked_to_stop) reason += " after it was asked to stop";
  if (auto errors = output.last_errors(); !errors.empty()) reason += ":\n" + errors;
  if (!ending.by_signal && ending.number == EX_DATAERR) return fail(reason);
  return retry(reason);
}

struct Running {
  std::unique_ptr<StopEvent> stopped;
  ChildProcess child;
};

/// Whatever goes wrong before the program runs is this machine's fault, not the task's.
Running begin_program(const ExecOptions& options, const GroupGuard& guard, Attempt& attempt) {
  const auto payload = options.input ? options.input(attempt) : attempt.payload();
  try {
    auto input = payload_file(payload);
    auto stopped = std::make_unique<StopEvent>(attempt.stop_token());
    auto program =
        program_for(options.command, options.not_a_line, attempt, options.pass_environment);
    return {std::move(stopped),
            ChildProcess::start(program, input.get(), attempt.child_lock(), &guard)};
  } catch (const EarlierAttemptRuns&) {
    throw;
  } catch (const LeaseLost&) {
    throw;
  } catch (const std::exception& error) {
    throw CannotBegin{error.what()};
  }
}

Outcome run_program(const ExecOptions& options, const GroupGuard& guard, Attempt& attempt) {
  auto stop = attempt.stop_token();
  if (stop.stop_requested()) return retry("asked to stop before the program was started");
  Output output{[&](std::string_view line) { attempt.log(line); }, options.result_bytes};
  auto [stopped, child] = begin_program(options, guard, attempt);
  // Of a line for the shell only its end tells.
  if (options.command.size() > 1 || options.not_a_line) attempt.begun();
  auto ending = supervise(child, *stopped, options.stop_grace, output);
  if (!ending.by_signal && shell_lacks(options.command, options.not_a_line, ending.number))
    throw CannotBegin{fmt::format("the shell cannot run '{}'", options.command.front())};
  return outcome_of(ending, stop.stop_requested(), output);
}

}  // namespace

Handler exec_handler(ExecOptions options) {
  if (options.command.empty()) throw ConfigError{"a program to run is needed, but none was given"};
  expect_program(options.command, options.not_a_line);
  expect_passable(options.pass_environment);
  return [options = std::move(options), guard = std::make_shared<GroupGuard>()](Attempt& attempt) {
    return run_program(options, *guard, attempt);
  };
}

}  // namespace holdfast
