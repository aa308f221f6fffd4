#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

/// What SQLite asks of the file system.
enum class Call {
  open,
  read,
  write,
  truncate,
  sync,
  size,
  lock,
  exists,
  remove,
  share,        ///< maps a piece of the index of the WAL, and lets the file grow for it
  lock_shared,  ///< locks in that index
  allocate,     ///< no file call: SQLite asks for memory; needs `intercept_allocations`
};
std::string_view to_string(Call call);

/// How a call fails.
struct Fault {
  int error = 0;      ///< EIO, ENOSPC
  bool half = false;  ///< of a write: the first half is done
};

/// Asked before every call with the name of the file (without its folder); nothing: go on.
using FaultChooser = std::function<std::optional<Fault>(Call, std::string_view file)>;

/// A change to a file or to the folder, in the order in which they were asked for. Names are
/// without the folder.
struct Change {
  enum class Kind {
    create,       ///< the name is new
    write,        ///< `data` at `offset`
    truncate,     ///< to `offset` bytes
    sync,         ///< what was written to the file before is durable
    remove,       ///< the name is gone
    sync_folder,  ///< what was done to names before is durable
  };
  Kind kind = Kind::write;
  std::string file{};
  std::int64_t offset = 0;
  std::string data{};
};

using ChangeListener = std::function<void(Change)>;

/// Puts a layer between SQLite and the file system of this process: stores that are opened from now
/// on go through it. Calls are passed on to the real files, except syncs, which only cost time
/// where the power cut is a simulated one.
void intercept_file_calls();

/// The same for SQLite's memory. Before the first use of SQLite in this process.
void intercept_allocations();

/// While it lives, faults of calls by this thread are chosen by this.
class Faults {
 public:
  explicit Faults(FaultChooser chooser);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
};

/// The same for calls by all threads, until it is set again; an empty function for none.
void fail_everywhere(FaultChooser chooser);

/// While it lives, changes by this thread are told to this.
class Listening {
 public:
  explicit Listening(ChangeListener listener);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
};

}  // namespace holdfast::test
