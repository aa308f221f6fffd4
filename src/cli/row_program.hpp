#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/batches.hpp>

#include "exec/group_guard.hpp"
#include "exec/program.hpp"

namespace holdfast::cli {

/// A program that processes rows: it reads a row as a line of JSON on its standard input and writes
/// its result as a line on its standard output, again and again. Each thread that processes rows
/// has one of its own, which is started with its first row and again whenever it has ended, or has
/// said something else than an answer: what follows could be taken for the next row's.
class RowProgram {
 public:
  /// `line` is for `/bin/sh -c`; `passed` are environment variables that it gets although Holdfast
  /// keeps them back. Throws `ConfigError` if the shell knows no such command, or if one of the
  /// variables is not set.
  explicit RowProgram(const std::string& line, const std::vector<std::string>& passed = {});
  ~RowProgram();

  /// Throws `RetryRow` if the program ends before it has answered, because it may have been another
  /// row's fault, or nobody's. It is killed if it has not answered when the row is to stop.
  RowResult process(const RowAttempt& row);

 private:
  class Conversation;

  Conversation& conversation(const RowAttempt& row);
  void end_conversation();

  Program program_;
  GroupGuard guard_;
  std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<Conversation>> conversations_;
};

/// The line that a program gets for a row, and what its answer means. Throws `InvalidRequest` for
/// one that means nothing, or that names another key.
std::string line_for(const RowAttempt& row);
RowResult result_of_line(const std::string& line, const std::string& key);

}  // namespace holdfast::cli
