#include "exec/memory_guard.hpp"

#include <sys/prctl.h>

#include <optional>

namespace holdfast {

namespace {

std::optional<rlimit> limit_before;

rlimit core_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  return limit;
}

}  // namespace

void guard_memory() {
  if (!limit_before) limit_before = core_limit();
  // The hard limit stays, or it could not be raised again for programs.
  const rlimit none{0, limit_before->rlim_max};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
}

void give_up_core_dumps() {
  limit_before = rlimit{0, 0};
  ::setrlimit(RLIMIT_CORE, &*limit_before);
}

rlimit core_limit_of_programs() { return limit_before ? *limit_before : core_limit(); }

}  // namespace holdfast
