#pragma once

#include <exception>
#include <stdexcept>

namespace holdfast::cli {

/// What the program says by its exit code.
enum class Exit {
  ok = 0,
  refused = 1,         ///< the request makes no sense, or the state of the store does not allow it
  system = 2,          ///< the store or the system would not do it
  read_only = 3,       ///< the store can be read, not changed
  halted = 4,          ///< the store needs a person before anything may use it
  storage_failed = 5,  ///< the storage failed while we were writing
  interrupted = 130,
};

/// Ended by SIGINT at a place where we could still say what was done.
class Interrupted : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

Exit exit_for(const std::exception& error);

}  // namespace holdfast::cli
