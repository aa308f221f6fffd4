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
#include "recovery/private_files.hpp"

namespace holdfast::filesystem {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished = ".new-";
/// A file that somebody has been writing for so long is nobody's any more.
constexpr std::chrono::hours until_abandoned{1};
constexpr std::size_t piece_size = 1 << 20;

[[noreturn]] void throw_errno(std::string_view what, const std::string& path) {
  throw BlobError{fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

/// The first line of a file. Its length follows from the size alone, so it can be written last.
std::string head_of(XXH64_hash_t sum, std::uint64_t bytes) {
  return fmt::format("holdfast-blob 1 {:016x} {}\n", sum, bytes);
}

class Sum {
 public:
  Sum() { XXH3_64bits_reset(state_.get()); }
  void add(std::string_view piece) { XXH3_64bits_update(state_.get(), piece.data(), piece.size()); }
  XXH64_hash_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

void write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_blob(int file, BlobSource& content, const std::string& path) {
  auto bytes = content.size();
  write_all(file, head_of(0, bytes), path);
  Sum sum;
  std::uint64_t written = 0;
  std::string buffer(std::min<std::uint64_t>(std::max<std::uint64_t>(bytes, 1), piece_size), '\0');
  while (auto some = content.read(buffer)) {
    auto piece = std::string_view{buffer}.substr(0, some);
    sum.add(piece);
    write_all(file, piece, path);
    written += some;
  }
  if (written != bytes)
    throw BlobError{fmt::format("{} was to have {} bytes and got {}", path, bytes, written)};
  auto head = head_of(sum.value(), bytes);
  if (::pwrite(file, head.data(), head.size(), 0) != static_cast<ssize_t>(head.size()))
    throw_errno("write", path);
  if (::fsync(file) != 0) throw_errno("sync", path);
}

void sync_folder(const std::string& folder) {
  FileDescriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened || ::fsync(opened.get()) != 0) throw_errno("sync", folder);
}

std::size_t read_some(int file, std::span<char> into, const std::string& path) {
  while (true) {
    auto got = ::read(file, into.data(), into.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read", path);
    return static_cast<std::size_t>(got);
  }
}

std::chrono::seconds age_of(const struct stat& info) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now) -
         std::chrono::seconds{info.st_mtim.tv_sec};
}

/// How many bytes of a file are content, which follows from how many there are.
std::size_t content_of(std::uint64_t file) {
  for (auto digits = 1u; digits < 20; ++digits) {
    auto head = head_of(0, 0).size() - 1 + digits;
    if (file >= head && std::to_string(file - head).size() == digits) return file - head;
  }
  return 0;
}

/// Goes with this object, unless it was taken into use by then under another name too.
struct Unfinished {
  std::string path;
  ~Unfinished() { ::unlink(path.c_str()); }
};

class BlobDirectory final : public BlobStore {
 public:
  explicit BlobDirectory(std::string folder) : folder_{std::move(folder)} {
    std::error_code unknown;
    // Who made the folder has decided who may use it.
    if (!fs::exists(folder_, unknown)) make_folder();
    if (!fs::is_directory(folder_, unknown))
      throw ConfigError{fmt::format("cannot keep blobs in {}: it is not a folder", folder_)};
    remove_unfinished(until_abandoned);
  }

  bool put(std::string_view key, std::string_view content) override {
    BlobText text{content};
    return put(key, text);
  }

  bool put(std::string_view key, BlobSource& content) override {
    auto path = path_of(key);
    Unfinished file{fmt::format("{}/{}{}", folder_, unfinished, TaskId::make().text())};
    {
      auto opened = create_file(file.path);
      write_blob(opened.get(), content, file.path);
    }
    auto into = make_folders(key);
    kill_point(KillPoint::blob_before_link);
    // Unlike a rename, this does not replace what is there.
    bool created = ::link(file.path.c_str(), path.c_str()) == 0;
    if (!created && errno != EEXIST) throw_errno("create", path);
    if (created) kill_point(KillPoint::blob_after_link);
    sync_folder(into);  // also where it was there: whoever wrote it may have died before that
    return created;
  }

  std::optional<std::string> get(std::string_view key) override {
    std::string content;
    if (!read(key, [&](std::string_view piece) { content += piece; })) return {};
    return content;
  }

  bool read(std::string_view key, const std::function<void(std::string_view)>& piece) override {
    auto path = path_of(key);
    FileDescriptor opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!opened) {
      if (errno != ENOENT && errno != ENOTDIR) throw_errno("open", path);
      require_folder();
      return false;
    }
    auto damaged = [&]() -> BlobDamaged {
      return BlobDamaged{fmt::format("{} is not what was written there", path)};
    };
    std::string buffer(piece_size, '\0');
    auto got = read_some(opened.get(), buffer, path);
    auto line_end = buffer.find('\n');
    if (line_end >= std::min<std::size_t>(got, 100)) throw damaged();
    auto head = buffer.substr(0, line_end + 1);
    Sum sum;
    std::uint64_t bytes = 0;
    for (auto some = std::string_view{buffer}.substr(line_end + 1, got - line_end - 1); got > 0;) {
      sum.add(some);
      bytes += some.size();
      piece(some);
      got = read_some(opened.get(), buffer, path);
      some = std::string_view{buffer}.substr(0, got);
    }
    if (head != head_of(sum.value(), bytes)) throw damaged();
    return true;
  }

  bool remove(std::string_view key) override {
    auto path = path_of(key);
    if (::unlink(path.c_str()) == 0) {
      remove_empty_folders(key);
      return true;
    }
    if (errno != ENOENT && errno != ENOTDIR) throw_errno("remove", path);
    require_folder();
    return false;
  }

  std::vector<BlobInfo> list(std::string_view prefix) override {
    std::vector<BlobInfo> blobs;
    // Only the folder that the prefix leads into can have any.
    auto slash = prefix.rfind('/');
    auto begin = fs::path{folder_};
    if (slash != prefix.npos) begin /= std::string{prefix.substr(0, slash)};
    std::error_code gone;
    for (const auto& entry : fs::recursive_directory_iterator{begin, gone}) {
      auto key = entry.path().lexically_relative(folder_).string();
      struct stat info {};
      // One that goes while we look is not there.
      if (entry.path().filename().string().starts_with('.') || !key.starts_with(prefix) ||
          ::stat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        continue;
      auto bytes = static_cast<std::uint64_t>(info.st_size);
      blobs.push_back({key, content_of(bytes), age_of(info)});
    }
    std::ranges::sort(blobs, {}, &BlobInfo::key);
    return blobs;
  }

  int remove_unfinished(std::chrono::seconds least_age) override {
    int removed = 0;
    for (const auto& entry : fs::directory_iterator{folder_}) {
      struct stat info {};
      if (!entry.path().filename().string().starts_with(unfinished)) continue;
      if (::stat(entry.path().c_str(), &info) == 0 && age_of(info) >= least_age)
        removed += ::unlink(entry.path().c_str()) == 0;
    }
    return removed;
  }

  std::string address_of(std::string_view key) const override {
    std::error_code unknown;
    auto path = fs::absolute(path_of(key), unknown);
    return "file://" + path.string();
  }

  std::string name() const override { return "dir:" + folder_; }

 private:
  void make_folder() const {
    try {
      make_private_folder(folder_);
    } catch (const StoreError& error) {
      throw ConfigError{fmt::format("cannot keep blobs in {}: {}", folder_, error.what())};
    }
  }

  static FileDescriptor create_file(const std::string& path) {
    try {
      return create_private(path, FilesFor::owner);
    } catch (const StoreError& error) {
      throw BlobError{error.what()};
    }
  }

  std::string path_of(std::string_view key) const {
    check_blob_key(key);
    return fmt::format("{}/{}", folder_, key);
  }

  /// Where all of it is away, nothing is known of a single blob.
  void require_folder() const {
    FileDescriptor opened{::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!opened) throw_errno("look into", folder_);
  }

  /// False: it is there.
  static bool make_subfolder(const std::string& path) {
    std::error_code unknown;
    if (fs::exists(path, unknown)) return false;
    try {
      return make_private_folder(path);
    } catch (const StoreError& error) {
      throw BlobError{error.what()};
    }
  }

  /// Makes the folders that lead to a key durably; returns the last of them.
  std::string make_folders(std::string_view key) const {
    std::string folder = folder_;
    for (auto slash = key.find('/'); slash != key.npos; slash = key.find('/', slash + 1)) {
      auto next = fmt::format("{}/{}", folder_, key.substr(0, slash));
      if (make_subfolder(next)) sync_folder(folder);
      folder = next;
    }
    return folder;
  }

  void remove_empty_folders(std::string_view key) const {
    for (auto slash = key.rfind('/'); slash != key.npos && slash > 0;
         slash = key.rfind('/', slash - 1))
      if (::rmdir(fmt::format("{}/{}", folder_, key.substr(0, slash)).c_str()) != 0) return;
  }

  std::string folder_;
};

}  // namespace

std::shared_ptr<BlobStore> open_blob_directory(const std::string& folder) {
  return std::make_shared<BlobDirectory>(folder);
}

}  // namespace holdfast::filesystem
