#include "engines/filesystem/blob_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <holdfast/ids.hpp>

#include "recovery/file_lock.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::filesystem {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished = ".new-";
/// A file that somebody has been writing for so long is nobody's any more.
constexpr std::chrono::hours until_abandoned{1};
constexpr std::size_t longest_key = 200;

[[noreturn]] void throw_errno(std::string_view what, const std::string& path) {
  throw BlobError{fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

void check_key(std::string_view key) {
  bool plain = std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (key.empty() || key.size() > longest_key || key.front() == '.' || !plain)
    throw InvalidRequest{fmt::format(
        "the key of a blob needs 1 to {} letters, digits, '-', '_' and '.', and no dot in front",
        longest_key)};
}

std::string head_of(std::string_view content) {
  return fmt::format("holdfast-blob 1 {:016x} {}\n", XXH3_64bits(content.data(), content.size()),
                     content.size());
}

void write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_folder(const std::string& folder) {
  FileDescriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened || ::fsync(opened.get()) != 0) throw_errno("sync", folder);
}

std::string read_all(int file, const std::string& path) {
  std::string content;
  char buffer[65'536];
  while (true) {
    auto got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read", path);
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

std::chrono::seconds age_of(const struct stat& info) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now) -
         std::chrono::seconds{info.st_mtim.tv_sec};
}

/// Goes with this object, unless it was taken into use by then under another name too.
struct Unfinished {
  std::string path;
  ~Unfinished() { ::unlink(path.c_str()); }
};

class BlobDirectory final : public BlobStore {
 public:
  explicit BlobDirectory(std::string folder) : folder_{std::move(folder)} {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error || !fs::is_directory(folder_))
      throw ConfigError{fmt::format("cannot keep blobs in {}: {}", folder_,
                                    error ? error.message() : std::string{"it is not a folder"})};
    fs::permissions(folder_, fs::perms::owner_all, error);
    remove_abandoned();
  }

  bool put(std::string_view key, std::string_view content) override {
    auto path = path_of(key);
    Unfinished file{fmt::format("{}/{}{}", folder_, unfinished, TaskId::make().text())};
    {
      FileDescriptor opened{
          ::open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
      if (!opened) throw_errno("create", file.path);
      write_all(opened.get(), head_of(content), file.path);
      write_all(opened.get(), content, file.path);
      if (::fsync(opened.get()) != 0) throw_errno("sync", file.path);
    }
    kill_point(KillPoint::blob_before_link);
    // Unlike a rename, this does not replace what is there.
    if (::link(file.path.c_str(), path.c_str()) != 0) {
      if (errno != EEXIST) throw_errno("create", path);
      sync_folder(folder_);  // whoever wrote it may have died before that
      return false;
    }
    kill_point(KillPoint::blob_after_link);
    sync_folder(folder_);
    return true;
  }

  std::optional<std::string> get(std::string_view key) override {
    auto path = path_of(key);
    FileDescriptor opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!opened) {
      if (errno == ENOENT) return {};
      throw_errno("open", path);
    }
    auto file = read_all(opened.get(), path);
    auto line_end = file.find('\n');
    auto content = line_end == std::string::npos ? std::string{} : file.substr(line_end + 1);
    if (line_end == std::string::npos || file.compare(0, line_end + 1, head_of(content)) != 0)
      throw BlobDamaged{fmt::format("{} is not what was written there", path)};
    return content;
  }

  bool remove(std::string_view key) override {
    auto path = path_of(key);
    if (::unlink(path.c_str()) == 0) return true;
    if (errno != ENOENT) throw_errno("remove", path);
    return false;
  }

  std::vector<BlobInfo> list() override {
    std::vector<BlobInfo> blobs;
    for (const auto& entry : fs::directory_iterator{folder_}) {
      auto key = entry.path().filename().string();
      struct stat info {};
      // One that goes while we look is not there.
      if (key.starts_with('.') || ::stat(entry.path().c_str(), &info) != 0) continue;
      auto head = head_of({}).size();
      auto bytes = static_cast<std::size_t>(info.st_size);
      blobs.push_back({key, bytes - std::min(bytes, head), age_of(info)});
    }
    std::ranges::sort(blobs, {}, &BlobInfo::key);
    return blobs;
  }

  std::string name() const override { return "dir:" + folder_; }

 private:
  std::string path_of(std::string_view key) const {
    check_key(key);
    return fmt::format("{}/{}", folder_, key);
  }

  void remove_abandoned() const {
    for (const auto& entry : fs::directory_iterator{folder_}) {
      struct stat info {};
      if (!entry.path().filename().string().starts_with(unfinished)) continue;
      if (::stat(entry.path().c_str(), &info) == 0 && age_of(info) > until_abandoned)
        ::unlink(entry.path().c_str());
    }
  }

  std::string folder_;
};

}  // namespace

std::shared_ptr<BlobStore> open_blob_directory(const std::string& folder) {
  return std::make_shared<BlobDirectory>(folder);
}

}  // namespace holdfast::filesystem
