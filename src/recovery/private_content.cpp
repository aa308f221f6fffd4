#include "recovery/private_content.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/private_files.hpp"

namespace holdfast {

namespace {

using Status = struct stat;

[[noreturn]] void refuse(const std::string& path, std::string_view what) {
  throw ConfigError{fmt::format("{} cannot be {}: {}", path, what, std::strerror(errno))};
}

/// A name that others cannot know before.
std::string name_beside(const std::string& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) refuse(path, "written");
  return fmt::format("{}.{:016x}", path, number);
}

std::optional<Status> replaced_file(const std::string& path) {
  Status status{};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISREG(status.st_mode))
    throw ConfigError{
        fmt::format("{} is {}, not a file; name the file itself", path,
                    S_ISLNK(status.st_mode) ? "a symbolic link" : "a folder or a device")};
  if (::geteuid() != 0 && status.st_uid != ::geteuid())
    throw ConfigError{fmt::format(
        "{} belongs to user {}, who could not read it any more if user {} replaced it; run this as "
        "that user or as root",
        path, user_text(status.st_uid), user_text(::geteuid()))};
  return status;
}

/// Whoever could read the old file can read the new one.
void take_after(const FileDescriptor& file, const Status& old, const std::string& path) {
  const auto owner = ::geteuid() == 0 ? old.st_uid : static_cast<uid_t>(-1);
  const bool given = ::fchown(file.get(), owner, old.st_gid) == 0;
  if (!given && errno != EPERM) refuse(path, "given to its owner");
  if (::fchmod(file.get(), given ? 0600u | (old.st_mode & 0040u) : 0600u) != 0)
    refuse(path, "given its mode");
}

void write_all(const FileDescriptor& file, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const auto written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(path, "written");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0) refuse(path, "written");
}

void sync_folder_of(const std::string& path) {
  const auto parent = std::filesystem::path{path}.parent_path();
  const FileDescriptor folder{
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // A folder that may be used but not read, and file systems that do not sync folders.
  if (!folder || ::fsync(folder.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return;
  refuse(path, "synced");
}

/// What root keeps for the user of a service is theirs.
bool is_of_folder(uid_t owner, const std::string& path) {
  const auto parent = std::filesystem::path{path}.parent_path();
  Status folder{};
  return ::geteuid() == 0 && ::stat(parent.empty() ? "." : parent.c_str(), &folder) == 0 &&
         folder.st_uid == owner;
}

bool read_all(const FileDescriptor& file, std::string& content) {
  std::array<char, 16'384> piece{};
  for (;;) {
    const auto got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    content.append(piece.data(), static_cast<std::size_t>(got));
  }
}

/// Gone with this object, unless it has its name by then.
struct Unfinished {
  std::string path;
  bool renamed = false;
  ~Unfinished() {
    if (!renamed) ::unlink(path.c_str());
  }
};

}  // namespace

std::string read_private_file(const std::string& path) {
  const auto file = look_at_private(path);
  std::string content;
  if (file) read_all(file, content);
  return content;
}

std::string why_untrusted(int file, const std::string& path) {
  Status status{};
  if (::fstat(file, &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  if (status.st_uid != ::geteuid() && status.st_uid != 0 && !is_of_folder(status.st_uid, path))
    return fmt::format("it belongs to user {}, not to the user of this process or root",
                       user_text(status.st_uid));
  if ((status.st_mode & 022) != 0)
    return "other users can write it; run 'chmod go-w' on it after checking its content";
  return {};
}

std::string read_trusted_file(const std::string& path, std::string_view what) {
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  auto why = file ? why_untrusted(file.get(), path) : std::string{std::strerror(errno)};
  std::string content;
  if (why.empty() && !read_all(file, content)) why = std::strerror(errno);
  if (!why.empty()) throw ConfigError{fmt::format("{} cannot be used: {}", what, why)};
  return content;
}

void write_private_file(const std::string& path, std::string_view content) {
  const auto old = replaced_file(path);
  Unfinished beside{name_beside(path)};
  try {
    const auto file = create_private(beside.path, FilesFor::owner);
    if (!file) refuse(beside.path, "made");
    if (old) take_after(file, *old, path);
    write_all(file, content, beside.path);
  } catch (const StoreError& error) {
    throw ConfigError{error.what()};
  }
  if (::rename(beside.path.c_str(), path.c_str()) != 0) refuse(path, "replaced");
  beside.renamed = true;
  sync_folder_of(path);
}

}  // namespace holdfast
