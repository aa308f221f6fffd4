#include "http/descriptors.hpp"

#include <sys/resource.h>

namespace holdfast::http {

void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace holdfast::http
