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

/// Why a lock could not be had within that time, and what to do about it.
std::string kept_waiting(const std::string& lock, std::optional<int> holder,
                         std::chrono::milliseconds waited);

}  // namespace holdfast::sqlite
