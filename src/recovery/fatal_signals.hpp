#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast {

/// Where a dying process notes what ends it. Lives in memory that outlasts the process (a mapped
/// file), so that whoever recovers its work can say why it died.
struct LastMoment {
  std::atomic<std::int32_t> signal{0};
  std::atomic<std::int32_t> slot{-1};  ///< the handler thread that received it; -1: another thread
};
static_assert(std::atomic<std::int32_t>::is_always_lock_free);

/// From now on a fatal signal of this process (segmentation fault, abort, ...) is noted in every
/// `LastMoment` that is kept; then it takes its normal course. A signal that the program handles
/// itself, or that a sanitizer handles, is left alone. May be called more than once.
void record_fatal_signals();

/// Keeps `moment` until `forget`. Beyond a few dozen at a time they are not noted.
void keep_last_moment(LastMoment* moment);
void forget_last_moment(LastMoment* moment);

/// Says that the calling thread is now handler thread `slot` of the worker that keeps `moment`
/// (nullptr: of none), so that a signal can be laid at the right door.
void enter_handler(LastMoment* moment, int slot);

}  // namespace holdfast
