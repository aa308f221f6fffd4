#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/diagnosis.hpp>

namespace holdfast::sqlite {

/// What /proc says about a process; nothing if there is none of that number that we can see.
std::optional<ProcessSighting> look_at_process(int pid);

/// Processes (not this one) that have this file open, as far as we may look at them.
std::vector<ProcessSighting> processes_with_open(const std::string& path);

/// Their numbers and commands, for a sentence.
std::string names_of(const std::vector<ProcessSighting>& processes);

/// Who has SQLite's own write lock on a database, in a transaction of whatever program. Asks the
/// kernel's list: opening and closing the file would drop the locks that this process has on it.
std::optional<int> sqlite_writer(const std::string& database);

/// Why a lock could not be had within that time, and what to do about it.
std::string kept_waiting(const std::string& lock, std::optional<int> holder,
                         std::chrono::milliseconds waited);

}  // namespace holdfast::sqlite
