#include "engines/filesystem/blob_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "engines/filesystem/old_form.hpp"
#include "engines/filesystem/side_file.hpp"
#include "engines/filesystem/sweep.hpp"
#include "engines/objects/digest.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::filesystem {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A file that somebody has been writing for so long is nobody's any more.
constexpr std::chrono::hours until_abandoned{1};
/// Folders are searched for what writers left behind this often at most.
constexpr std::chrono::hours between_sweeps{1};
/// A list is for those who wait for it: after so long, the rest stays in its old form.
constexpr std::chrono::seconds converting_in_a_list{1};

/// A blob as it is found.
struct Found {
  FileDescriptor file{};
  Status status{};
  std::optional<Side> side{};
  std::optional<OldForm> old{};
};

struct Written {
  Side side{};
  bool like_old = false;  ///< it begins as files of earlier versions did
};

Written write_part(const FileDescriptor& file, BlobSource& content, const std::string& path) {
  auto bytes = content.size();
  auto sum = objects::Digest::sha256();
  Written written;
  std::string buffer(std::clamp<std::uint64_t>(bytes, old_begin.size(), piece_size), '\0');
  std::string begin;
  while (auto some = content.read(buffer)) {
    auto piece = std::string_view{buffer}.substr(0, some);
    if (begin.size() < old_begin.size()) begin += piece.substr(0, old_begin.size());
    sum.add(piece);
    write_all(file, piece, path);
    written.side.bytes += some;
  }
  if (written.side.bytes != bytes)
    throw BlobError{
        fmt::format("{} was to have {} bytes and got {}", path, bytes, written.side.bytes)};
  sync_file(file, path);
  written.side.sha256 = objects::hex(sum.take());
  written.side.changed = change_of(status_of(file, path));
  written.like_old = begin.starts_with(old_begin);
  return written;
}

class BlobDirectory final : public BlobStore {
 public:
  BlobDirectory(std::string folder, FilesFor whom) : folder_{std::move(folder)}, whom_{whom} {
    std::error_code unknown;
    // Who made the folder has decided who may use it.
    if (!fs::exists(folder_, unknown)) make_folder();
    if (!fs::is_directory(folder_, unknown))
      throw ConfigError{fmt::format("cannot keep blobs in {}: it is not a folder", folder_)};
    if (whom_ == FilesFor::readers) require_readers();
    remove_unfinished_in(folder_, until_abandoned);
  }

  bool put(std::string_view key, std::string_view content) override {
    BlobText text{content};
    return put(key, text);
  }

  bool put(std::string_view key, BlobSource& content) override {
    auto path = path_of(key);
    Unfinished part{new_file_in(folder_)};
    auto file = create_file(part.path, whom_);
    auto written = write_part(file, content, part.path);
    auto into = make_folders(key);
    if (status_of(path).st_nlink > 0) {
      sync_folder(into);  // whoever wrote it may have died before that
      return false;
    }
    kill_point(KillPoint::blob_before_side);
    const auto number = status_of(file, part.path).st_ino;
    // If it is not used, it goes before the file is closed, whose number another one may have then.
    Unfinished side{side_path(path, number)};
    write_side(side.path, written.side, whom_);
    if (written.like_old) write_side(mark_path(path), written.side, whom_);
    sync_folder(into);
    kill_point(KillPoint::blob_before_link);
    // Unlike a rename, this does not replace what is there. A writer that was taken for dead has no
    // file any more that it could link.
    if (::link(part.path.c_str(), path.c_str()) != 0 && errno != EEXIST)
      throw_errno("create", path);
    // A server of files may have done it and lost the answer.
    side.kept = status_of(path).st_ino == number;
    if (side.kept) kill_point(KillPoint::blob_after_link);
    sync_folder(into);
    return side.kept;
  }

  std::optional<std::string> get(std::string_view key) override {
    std::string content;
    if (!read(key, [&](std::string_view piece) { content += piece; })) return {};
    return content;
  }

  bool read(std::string_view key, const std::function<void(std::string_view)>& piece) override {
    auto path = path_of(key);
    auto found = find(path);
    if (!found) {
      require_folder();
      return false;
    }
    if (found->old) {
      if (!read_old(found->file, *found->old, path, piece)) throw damaged(path);
      convert_if_possible(path);
      return true;
    }
    if (!found->side)
      throw BlobDamaged{fmt::format(
          "{} has no side file with its checksum: it was not written by Holdfast, or was copied "
          "without the files beside it whose names begin with a dot",
          path)};
    auto sum = objects::Digest::sha256();
    std::uint64_t bytes = 0;
    read_rest(found->file, path, [&](std::string_view some) {
      sum.add(some);
      bytes += some.size();
      piece(some);
    });
    if (bytes != found->side->bytes || objects::hex(sum.take()) != found->side->sha256)
      throw damaged(path);
    return true;
  }

  bool remove(std::string_view key) override {
    auto path = path_of(key);
    // Open until its side file is gone, so that no new file has its number before that.
    auto file = open_regular(path, O_RDWR);
    if (!file) {
      require_folder();
      return false;
    }
    if (!take_turn(file))
      throw BlobError{fmt::format("another process is converting or removing {}; try again", path)};
    auto number = status_of(file, path).st_ino;
    if (::unlink(path.c_str()) != 0) {
      if (errno != ENOENT && errno != ENOTDIR) throw_errno("remove", path);
      return false;
    }
    kill_point(KillPoint::unlink_after_part);
    ::unlink(side_path(path, number).c_str());
    ::unlink(mark_path(path).c_str());
    remove_empty_folders(key);
    return true;
  }

  std::vector<BlobInfo> list(std::string_view prefix) override {
    std::vector<BlobInfo> blobs;
    // Only the folder that the prefix leads into can have any.
    auto slash = prefix.rfind('/');
    std::string begin{prefix.substr(0, slash == prefix.npos ? 0 : slash)};
    auto until = Clock::now() + converting_in_a_list;
    require_folder();
    for_each_folder(folder_, begin, [&](const std::string& inside, const auto& names) {
      auto folder = inside.empty() ? folder_ : fmt::format("{}/{}", folder_, inside);
      std::optional<std::map<std::string, std::string>> elsewhere;
      for (const auto& name : names) {
        auto key = inside.empty() ? name : fmt::format("{}/{}", inside, name);
        if (!key.starts_with(prefix) || !is_blob_key(key)) continue;
        auto path = fmt::format("{}/{}", folder, name);
        if (auto blob = look_at(path, elsewhere, until)) {
          blob->key = key;
          blobs.push_back(std::move(*blob));
        }
      }
    });
    std::ranges::sort(blobs, {}, &BlobInfo::key);
    return blobs;
  }

  int remove_unfinished(std::chrono::seconds least_age) override {
    int removed = remove_unfinished_in(folder_, least_age);
    auto now = Clock::now().time_since_epoch();
    auto last = swept_.load();
    bool due = last == Clock::duration{0} ||
               now - last >= std::min<Clock::duration>(least_age, between_sweeps);
    // One of several threads is enough.
    if (due && swept_.compare_exchange_strong(last, now))
      removed += remove_stray_sides(folder_, least_age);
    return removed;
  }

  std::string address_of(std::string_view key) const override {
    std::error_code unknown;
    auto path = fs::absolute(path_of(key), unknown);
    return "file://" + path.string();
  }

  std::string name() const override { return "dir:" + folder_; }

 private:
  static BlobDamaged damaged(const std::string& path) {
    return BlobDamaged{fmt::format("{} is not what was written there", path)};
  }

  void make_folder() const {
    try {
      make_private_folder(folder_, whom_);
    } catch (const StoreError& error) {
      throw ConfigError{fmt::format("cannot keep blobs in {}: {}", folder_, error.what())};
    }
  }

  void require_readers() const {
    constexpr mode_t enter = S_IRGRP | S_IXGRP;
    auto mode = status_of(folder_ + "/.").st_mode;
    if ((mode & enter) != enter)
      throw ConfigError{fmt::format(
          "the group of {0} cannot read it (mode {1:04o}), so blobs in it cannot be for the group; "
          "'chmod g+rx {0}', or use --blob-mode 0600",
          folder_, mode & 07777u)};
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

  /// Nothing: there is none. Without a side file and not in the old form, it is not one of ours.
  std::optional<Found> find(const std::string& path) const {
    constexpr int tries = 3;
    for (int i = 1;; ++i) {
      Found found{.file = open_regular(path, O_RDONLY)};
      if (!found.file) return {};
      found.status = status_of(found.file, path);
      found.side = read_side(side_path(path, found.status.st_ino));
      if (found.side) return found;
      if (status_of(mark_path(path)).st_nlink == 0)
        found.old = old_form_of(found.file, found.status, path);
      if (found.old) return found;
      auto slash = path.rfind('/');
      auto sides = find_sides(path.substr(0, slash));
      if (auto side = sides.find(path.substr(slash + 1)); side != sides.end())
        found.side = read_side(side->second);
      // While we looked, it may have been removed, converted or written anew.
      if (found.side || status_of(path).st_ino == found.status.st_ino || i == tries) return found;
    }
  }

  /// For a list. `elsewhere` is what `find_sides` says about the folder, once that was asked.
  std::optional<BlobInfo> look_at(const std::string& path,
                                  std::optional<std::map<std::string, std::string>>& elsewhere,
                                  Clock::time_point until) const {
    auto status = status_of(path);
    // One that goes while we look is not there.
    if (!S_ISREG(status.st_mode)) return {};
    BlobInfo blob{
        .key = {}, .bytes = static_cast<std::size_t>(status.st_size), .age = age_of(status)};
    auto side = read_side(side_path(path, status.st_ino));
    if (!side) {
      auto file = open_regular(path, O_RDONLY);
      if (!file) return {};
      bool marked = status_of(mark_path(path)).st_nlink > 0;
      if (auto old = marked ? std::nullopt : old_form_of(file, status, path)) {
        blob.bytes = old->bytes;
        blob.doubtful = true;
        if (Clock::now() < until && convert_if_possible(path))
          return look_at(path, elsewhere, Clock::time_point::min());
        return blob;
      }
      auto slash = path.rfind('/');
      if (!elsewhere) elsewhere = find_sides(path.substr(0, slash));
      auto found = elsewhere->find(path.substr(slash + 1));
      if (found != elsewhere->end()) side = read_side(found->second);
    }
    blob.doubtful = !side || side->bytes != blob.bytes || side->changed != change_of(status);
    if (!blob.doubtful) blob.sha256 = side->sha256;
    return blob;
  }

  /// Where that cannot be done (there is no room, or we may only read), the old form stays, and is
  /// read; the next one who touches it tries again.
  bool convert_if_possible(const std::string& path) const {
    try {
      return convert(folder_, path, whom_);
    } catch (const BlobError&) {
      return false;
    }
  }

  /// False: it is there.
  bool make_subfolder(const std::string& path) const {
    std::error_code unknown;
    if (fs::exists(path, unknown)) return false;
    try {
      return make_private_folder(path, whom_);
    } catch (const StoreError& error) {
      throw BlobError{error.what()};
    } catch (const ConfigError& error) {
      throw BlobRefused{BlobRefused::Reason::rights, error.what()};
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
  FilesFor whom_;
  std::atomic<Clock::duration> swept_{};
};

}  // namespace

std::shared_ptr<BlobStore> open_blob_directory(const std::string& folder, FilesFor whom) {
  return std::make_shared<BlobDirectory>(folder, whom);
}

}  // namespace holdfast::filesystem
