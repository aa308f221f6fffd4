#include "engines/sqlite/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sqlite/processes.hpp"
#include "recovery/private_files.hpp"

namespace holdfast::sqlite {

namespace {

constexpr long head_of_line = 0;
constexpr long the_lock = 1;

}  // namespace

bool lock_within(const std::shared_ptr<FileDescriptor>& file, long byte, Patience patience) {
  if (!patience) {
    lock(file->get(), byte);
    return true;
  }
  if (try_lock(file->get(), byte)) return true;
  // The kernel waits for ever or not at all, and asking again and again would lose the place in the
  // line. So a thread waits, and gives back what it gets when it is too late.
  struct Wait {
    std::mutex mutex;
    std::condition_variable changed;
    bool got = false, over = false;
  };
  auto wait = std::make_shared<Wait>();
  std::thread{[wait, file, byte] {
    lock(file->get(), byte);
    std::lock_guard guard{wait->mutex};
    if (wait->over) unlock(file->get(), byte);
    wait->got = true;
    wait->changed.notify_one();
  }}.detach();
  std::unique_lock guard{wait->mutex};
  wait->over = !wait->changed.wait_for(guard, *patience, [&] { return wait->got; });
  return !wait->over;
}

FairLock::FairLock(const std::string& path, Patience patience)
    : path_{path},
      file_{std::make_shared<FileDescriptor>(open_private(path, O_RDWR | O_CREAT))},
      patience_{patience},
      name_{fmt::format("{:<10}\n", ::getpid())} {}

void FairLock::acquire() {
  // Mostly nobody is in line and nobody has the lock: then both are one call.
  if (try_lock(file_->get(), head_of_line, 2)) {
    unlock(file_->get(), head_of_line);
  } else {
    wait_in_line();
  }
  // The pid is for people: it names the process that everybody waits for. Not knowing it harms
  // nobody, so a failing write is not an error.
  [[maybe_unused]] auto written = ::pwrite(file_->get(), name_.data(), name_.size(), 0);
}

void FairLock::wait_in_line() {
  bool at_head = lock_within(file_, head_of_line, patience_);
  bool got = at_head && lock_within(file_, the_lock, patience_);
  if (at_head) unlock(file_->get(), head_of_line);
  if (got) return;
  // A thread still waits through the old descriptor, and will let go through it.
  file_ = std::make_shared<FileDescriptor>(open_private(path_, O_RDWR | O_CREAT));
  throw StoreError{kept_waiting(path_, holder(path_), *patience_)};
}

void FairLock::release() { unlock(file_->get(), the_lock); }

std::optional<int> FairLock::holder(const std::string& path) {
  auto file = look_at_private(path);
  if (!file || !is_locked(file.get(), the_lock)) return {};
  char name[11] = {};
  if (::pread(file.get(), name, sizeof name - 1, 0) <= 0) return 0;
  return std::atoi(name);
}

}  // namespace holdfast::sqlite
