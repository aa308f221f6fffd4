#pragma once

#include <cstdint>
#include <string>

#include "recovery/file_lock.hpp"
#include "recovery/host_files.hpp"
#include "recovery/oom_kills.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast {

/// A worker's file: locked as long as the worker lives, and mapped into memory as its board of
/// running work. What is written there survives `kill -9` without a system call.
///
/// The file appears under its name only after it was locked, so a visible file that is not locked
/// belongs to a dead worker.
class Board {
 public:
  /// Creates `workers/<id>` with one slot for each handler thread. Whether the host ran out of
  /// memory during the worker's life shows by what is counted when it is dead. `remote`: what is
  /// on it runs in another process.
  Board(const HostFiles& files, WorkerId id, int slots,
        std::uint64_t oom_kills_before = oom_kills(), bool remote = false);
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board();

  /// Called by the handler thread itself, where there is one; `slot` below the number of slots.
  void started(int slot, const Lease& lease);
  void finished(int slot);
  /// Something runs in this process that is not on this board.
  void not_alone(bool others);

 private:
  struct Page;
  FileDescriptor file_;
  Page* page_ = nullptr;
  std::size_t bytes_ = 0;
  bool remote_ = false;
};

/// What a worker that died within this boot of the machine left on its board. (After a restart the
/// file shows whatever happened to reach the disk: do not ask.) Believes nothing: the file may be
/// short, garbage or gone, then it is not readable.
Remains read_board(const std::string& path, std::uint64_t oom_kills_now = oom_kills());

}  // namespace holdfast
