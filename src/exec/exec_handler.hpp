#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <holdfast/tasks.hpp>

namespace holdfast {

/// Any program as a handler.
struct ExecOptions {
  /// Several words: a program (looked up in PATH) and its arguments, run without a shell.
  /// One word: a line for `/bin/sh -c`, unless it is `not_a_line`.
  std::vector<std::string> command;
  /// Between SIGTERM and SIGKILL when the attempt has to stop. Shorter than the worker's own
  /// `stop_grace`, or the worker gives the attempt up before the program has ended.
  std::chrono::milliseconds stop_grace{5'000};
  std::size_t result_bytes = 1'000'000;  ///< a longer last line is not a result
  bool not_a_line = false;               ///< one word is a program, too
  /// What the program is to read; none: the payload of the attempt as it is.
  std::function<std::string(Attempt&)> input{};
  /// Environment variables that the program gets although Holdfast keeps them back; see
  /// `program_environment`.
  std::vector<std::string> pass_environment{};
};

/// Runs the command once for each attempt. The payload is its standard input (see `input`);
/// HOLDFAST_TASK_ID, HOLDFAST_KIND, HOLDFAST_ATTEMPT, HOLDFAST_TOKEN and HOLDFAST_IDEMPOTENCY_KEY
/// are in its environment. What it writes to standard output and standard error becomes log lines
/// of the task.
///
///     exit 0      done; the last line of standard output is the result, if it is JSON
///     exit 75     retry (EX_TEMPFAIL)
///     exit 65     fail for good (EX_DATAERR)
///     otherwise   failed, and tried again; so does a signal
///
/// The program runs in a process group of its own. The group gets SIGTERM when the attempt has to
/// stop, and nothing of it outlives the attempt or the worker. Throws `ConfigError` if there is no
/// such program. One that is gone later may only be about to be replaced: it is tried again.
Handler exec_handler(ExecOptions options);

}  // namespace holdfast
