#pragma once

#include "engines/redis/script.hpp"

/// Each is described where it is written: in `lua/`, with its arguments and its result.
namespace holdfast::sidekiq::scripts {

extern const redis::Script beat;
extern const redis::Script bury;
extern const redis::Script due;
extern const redis::Script orphans;
extern const redis::Script recover;
extern const redis::Script sending;
extern const redis::Script settle;
extern const redis::Script strays;
extern const redis::Script take;
extern const redis::Script unlock;

}  // namespace holdfast::sidekiq::scripts
