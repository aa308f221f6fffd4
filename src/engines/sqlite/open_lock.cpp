#include "engines/sqlite/open_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sqlite/processes.hpp"

namespace holdfast::sqlite {

namespace {

// Bytes of the file that are locked. Who is at the door may find out whether it is alone.
constexpr long door = 0;
constexpr long opened_store = 1;
constexpr long scrubber = 2;

// What the file says, for the next one to open the store and for people.
constexpr off_t pid_place = 0;
constexpr std::size_t pid_length = 11;
constexpr off_t boot_place = pid_length;
constexpr std::size_t boot_length = 64;
constexpr off_t checked_place = boot_place + boot_length + 1;
constexpr std::size_t checked_length = 10;

/// Closing must not hang on somebody who was stopped at the door.
constexpr std::chrono::milliseconds closing_patience{500};

std::string read_text(int fd, off_t place, std::size_t length) {
  std::string text(length, '\0');
  auto got = ::pread(fd, text.data(), length, place);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find_first_of(std::string_view{" \n\0", 3}));
}

}  // namespace

OpenLock::OpenLock(const SideFiles& files, Patience patience)
    : path_{files.open_lock()},
      file_{std::make_shared<FileDescriptor>(open_private(path_, O_RDWR | O_CREAT))} {
  if (!lock_within(file_, door, patience))
    throw StoreError{kept_waiting(path_, doorkeeper(files), *patience)};
  at_door_ = true;
  alone_ = try_lock(file_->get(), opened_store);
  if (!alone_) {
    ready();
    return;
  }
  auto name = fmt::format("{:<10}\n", ::getpid());
  [[maybe_unused]] auto written = ::pwrite(file_->get(), name.data(), name.size(), pid_place);
}

void OpenLock::ready() {
  lock_shared(file_->get(), opened_store);
  alone_ = false;
  unlock(file_->get(), door);
  at_door_ = false;
}

bool OpenLock::is_last() {
  if (!at_door_ && !lock_within(file_, door, closing_patience)) return false;
  at_door_ = true;
  alone_ = try_lock(file_->get(), opened_store);
  if (!alone_) ready();
  return alone_;
}

bool OpenLock::try_to_be_scrubber() { return try_lock(file_->get(), scrubber); }

std::string OpenLock::last_boot() const { return read_text(file_->get(), boot_place, boot_length); }

void OpenLock::note_boot(const std::string& boot) {
  if (last_boot() == boot) return;
  auto text = fmt::format("{:<{}}\n", boot, boot_length - 1);
  [[maybe_unused]] auto written = ::pwrite(file_->get(), text.data(), text.size(), boot_place);
}

bool OpenLock::is_checked() const {
  return read_text(file_->get(), checked_place, checked_length) == "checked";
}

void OpenLock::note_checked(bool checked) {
  auto text = fmt::format("{:<{}}\n", checked ? "checked" : "unchecked", checked_length - 1);
  [[maybe_unused]] auto written = ::pwrite(file_->get(), text.data(), text.size(), checked_place);
}

std::optional<int> OpenLock::doorkeeper(const SideFiles& files) {
  auto file = look_at_private(files.open_lock());
  if (!file || !is_locked(file.get(), door)) return {};
  return std::atoi(read_text(file.get(), pid_place, pid_length).c_str());
}

}  // namespace holdfast::sqlite
