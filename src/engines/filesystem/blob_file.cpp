#include "engines/filesystem/blob_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include <holdfast/ids.hpp>

namespace holdfast::filesystem {

namespace {

constexpr std::string_view unfinished = ".new-";

}  // namespace

void throw_errno(std::string_view doing, const std::string& path) {
  throw BlobError{fmt::format("cannot {} {}: {}", doing, path, std::strerror(errno))};
}

std::string new_file_in(const std::string& folder) {
  return fmt::format("{}/{}{}", folder, unfinished, TaskId::make().text());
}

bool is_unfinished(std::string_view name) {
  // What is beside the blob `new-x` begins in the same way, and has dots in it.
  return name.starts_with(unfinished) && name.find('.', 1) == name.npos;
}

FileDescriptor create_file(const std::string& path, FilesFor whom) {
  try {
    auto file = create_private(path, whom);
    if (!file) throw BlobError{fmt::format("cannot create {}: it is there already", path)};
    return file;
  } catch (const StoreError& error) {
    throw BlobError{error.what()};
  } catch (const ConfigError& error) {
    throw BlobRefused{BlobRefused::Reason::rights, error.what()};
  }
}

FileDescriptor open_regular(const std::string& path, int flags) {
  FileDescriptor file{::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file && errno != ENOENT && errno != ENOTDIR) throw_errno("open", path);
  if (!file || !S_ISREG(status_of(file, path).st_mode)) return {};
  return file;
}

Status status_of(const FileDescriptor& file, const std::string& path) {
  Status status{};
  if (::fstat(file.get(), &status) != 0) throw_errno("look at", path);
  return status;
}

Status status_of(const std::string& path) {
  Status status{};
  if (::lstat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT && errno != ENOTDIR) throw_errno("look at", path);
  return {};
}

void write_all(const FileDescriptor& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    auto written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::size_t read_some(const FileDescriptor& file, std::span<char> into, const std::string& path) {
  while (true) {
    auto got = ::read(file.get(), into.data(), into.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read", path);
    return static_cast<std::size_t>(got);
  }
}

void read_rest(const FileDescriptor& file, const std::string& path,
               const std::function<void(std::string_view)>& piece) {
  std::string buffer(piece_size, '\0');
  while (auto some = read_some(file, buffer, path)) piece(std::string_view{buffer}.substr(0, some));
}

void sync_file(const FileDescriptor& file, const std::string& path) {
  if (::fsync(file.get()) != 0) throw_errno("sync", path);
}

void sync_folder(const std::string& folder) {
  FileDescriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened || ::fsync(opened.get()) != 0) throw_errno("sync", folder);
}

std::chrono::seconds age_of(const Status& status) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now) -
         std::chrono::seconds{status.st_mtim.tv_sec};
}

std::int64_t change_of(const Status& status) {
  return status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::unique_ptr<DIR, int (*)(DIR*)> entries{::opendir(folder.c_str()), ::closedir};
  if (!entries && (errno == ENOENT || errno == ENOTDIR)) return {};
  if (!entries) throw_errno("list", folder);
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(entries.get());
    if (!entry && errno != 0) throw_errno("list", folder);
    if (!entry) return names;
    std::string_view name{entry->d_name};
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

Unfinished::~Unfinished() {
  if (!kept) ::unlink(path.c_str());
}

}  // namespace holdfast::filesystem
