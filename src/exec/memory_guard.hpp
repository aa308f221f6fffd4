#pragma once

#include <sys/resource.h>

namespace holdfast {

/// Keeps what is in this process's memory from other processes of the same user and from disk:
/// keys, passwords and payloads of others. No core dump is written, and `/proc/PID/mem` and
/// `/proc/PID/environ` are readable for root only. Programs that this process executes are not
/// affected. To be called once, before there are other threads.
void guard_memory();

/// Gives the limit of core dumps up for good: neither this process nor a program that it executes
/// can raise it again. For a process that executes none that would want it back.
void give_up_core_dumps();

/// The limit of core dumps that this process was started with: what programs get.
rlimit core_limit_of_programs();

}  // namespace holdfast
