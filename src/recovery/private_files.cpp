#include "recovery/private_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast {

namespace {

using Status = struct stat;

/// The folder that a path is in, kept open, so that it cannot be exchanged between two steps.
struct Place {
  FileDescriptor folder;
  Status about{};
  std::string name;
};

[[noreturn]] void throw_errno(std::string_view doing, const std::string& path) {
  const int error = errno;
  auto message = fmt::format("cannot {} {}: {}", doing, path, std::strerror(error));
  Status status{};
  if (error == EACCES && ::lstat(path.c_str(), &status) == 0)
    message +=
        fmt::format("; it belongs to user {} and has mode {:04o}, and we are user {}",
                    user_text(status.st_uid), status.st_mode & 07777u, user_text(::geteuid()));
  if (error == EACCES || error == EROFS || error == EPERM) throw StoreReadOnly{message};
  throw StoreError{message};
}

[[noreturn]] void refuse(const std::string& path, const Status& status, std::string_view why,
                         std::string_view advice) {
  throw ConfigError{fmt::format("{} is not safe to use: {} (owner {}, mode {:04o}). {}", path, why,
                                user_text(status.st_uid), status.st_mode & 07777u, advice)};
}

[[noreturn]] void refuse_kind(const std::string& path, std::string_view expected) {
  Status status{};
  ::lstat(path.c_str(), &status);
  refuse(path, status,
         S_ISLNK(status.st_mode) ? std::string{"it is a symbolic link"}
                                 : fmt::format("it is not a {}", expected),
         "Another user may have planted it: look where it came from, then remove it");
}

[[noreturn]] void refuse_owner(const std::string& path, const Status& status) {
  refuse(path, status,
         fmt::format("it belongs to another user than us, {}", user_text(::geteuid())),
         fmt::format("Run as that user, or look where it came from and remove it; if it is yours, "
                     "'chown {} {}'",
                     ::geteuid(), path));
}

[[noreturn]] void refuse_writable(const std::string& path, const Status& status) {
  refuse(path, status, "other users may write to it",
         fmt::format("Look what is in it, then 'chmod go-w {}'", path));
}

mode_t writable_by_others(bool shared) { return shared ? S_IWOTH : S_IWOTH | S_IWGRP; }

bool is_shared(const Status& folder) { return (folder.st_mode & S_IRWXG) == S_IRWXG; }

bool is_ours_or_roots(const Status& status, const Status& folder) {
  const auto us = ::geteuid();
  return status.st_uid == us || status.st_uid == 0 || (us == 0 && status.st_uid == folder.st_uid);
}

/// In a private folder, where the mode tells whether it is shared.
bool has_trusted_owner(const Status& status, const Status& folder) {
  return is_ours_or_roots(status, folder) || (is_shared(folder) && status.st_gid == folder.st_gid);
}

FileDescriptor open_folder(const std::string& path) {
  FileDescriptor folder{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!folder) throw_errno("open the folder", path);
  return folder;
}

Status status_of(const FileDescriptor& file, const std::string& path) {
  Status status{};
  if (::fstat(file.get(), &status) != 0) throw_errno("look at", path);
  return status;
}

Place place_of(const std::string& path) {
  const std::filesystem::path whole{path};
  const auto parent = whole.has_parent_path() ? whole.parent_path().string() : std::string{"."};
  Place place{open_folder(parent), {}, whole.filename().string()};
  place.about = status_of(place.folder, parent);
  return place;
}

mode_t folder_mode(FilesFor whom) {
  return whom == FilesFor::group ? 0770 : whom == FilesFor::readers ? 0750 : 0700;
}

mode_t file_mode(FilesFor whom) {
  return whom == FilesFor::group ? 0660 : whom == FilesFor::readers ? 0640 : 0600;
}

/// Another group than that of the folder must not be the one that may read.
void require_group(const FileDescriptor& made, const std::string& path, const Place& place) {
  const auto status = status_of(made, path);
  if (status.st_gid == place.about.st_gid) return;
  refuse(path, status,
         fmt::format("its group is {} and cannot become {}, the group of its folder", status.st_gid,
                     place.about.st_gid),
         "Run as a member of that group, or let the folder give it: 'chmod g+s' on the folder");
}

/// The mode only becomes what was asked for here: until then it is narrower.
void hand_over(const FileDescriptor& made, const std::string& path, mode_t mode, uid_t owner,
               const Place& place) {
  constexpr auto same_user = static_cast<uid_t>(-1);
  const bool give = ::geteuid() == 0 && owner != 0;
  // Root without the power to do that (in a container) can only create files of its own.
  if ((give || (mode & S_IRWXG) != 0 || is_shared(place.about)) &&
      ::fchown(made.get(), give ? owner : same_user, place.about.st_gid) != 0 && errno != EPERM)
    throw_errno("set the owner of", path);
  if ((mode & S_IRWXG) == S_IRGRP || (mode & S_IRWXG) == (S_IRGRP | S_IXGRP))
    require_group(made, path, place);
  if (::fchmod(made.get(), mode) != 0) throw_errno("set the mode of", path);
}

void check_file(const FileDescriptor& file, const Place& place, const std::string& path) {
  const auto status = status_of(file, path);
  if (!S_ISREG(status.st_mode)) refuse_kind(path, "regular file");
  if (!has_trusted_owner(status, place.about)) refuse_owner(path, status);
  // Only in a folder of others could another user have made the second name.
  const bool ours_alone = place.about.st_uid == ::geteuid() && !is_shared(place.about);
  if (status.st_nlink > 1 && !ours_alone)
    refuse(path, status, "it has a second name (a hard link)", "Remove the other name");
  const mode_t widest = is_shared(place.about) ? 0660 : 0600;
  const mode_t right = is_shared(place.about) ? 0660 : status.st_mode & 0600u;
  if ((status.st_mode & 0777u) == right) return;
  if (status.st_uid == ::geteuid() || ::geteuid() == 0) {
    // Some file systems have no modes; then the folder has to do.
    [[maybe_unused]] const int unchanged = ::fchmod(file.get(), right);
  } else if ((status.st_mode & ~widest & 022u) != 0) {
    refuse_writable(path, status);
  }
}

/// Opens without following a link, without waiting (for the other end of a pipe), and without
/// cutting off what is not checked yet. -1 and `errno` where it fails.
int open_unchecked(const Place& place, int flags, bool& created) {
  const int common = (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  while (true) {
    if ((flags & O_EXCL) == 0) {
      const int file = ::openat(place.folder.get(), place.name.c_str(), common);
      if (file >= 0 || errno != ENOENT || (flags & O_CREAT) == 0) return file;
    }
    const int file =
        ::openat(place.folder.get(), place.name.c_str(), common | O_CREAT | O_EXCL, 0600);
    created = file >= 0;
    if (created || errno != EEXIST || (flags & O_EXCL) != 0) return file;
  }
}

FileDescriptor open_in(const Place& place, const std::string& path, int flags) {
  bool created = false;
  FileDescriptor file{open_unchecked(place, flags, created)};
  if (!file && (errno == ELOOP || errno == ENXIO)) refuse_kind(path, "regular file");
  if (!file) throw_errno("open", path);
  if (created) {
    hand_over(file, path, is_shared(place.about) ? 0660 : 0600, place.about.st_uid, place);
    return file;
  }
  check_file(file, place, path);
  if ((flags & O_TRUNC) != 0 && ::ftruncate(file.get(), 0) != 0) throw_errno("empty", path);
  return file;
}

void check_folder(const Status& status, const Place& place, const std::string& path, FilesFor whom,
                  std::optional<uid_t> trusted_owner) {
  const bool group = whom == FilesFor::group && status.st_gid == place.about.st_gid;
  const bool trusted = ::geteuid() == 0 && trusted_owner && *trusted_owner == status.st_uid;
  // The folder above may be anything, so its mode does not say that a group is trusted.
  if (!trusted && !group && !is_ours_or_roots(status, place.about)) refuse_owner(path, status);
  if ((status.st_mode & writable_by_others(group)) == 0) return;
  if (is_shared(status) && (status.st_mode & S_IWOTH) == 0)
    refuse(path, status, "other users may write to it",
           fmt::format("If a group shares the store on purpose, its address has to say so "
                       "(?access=group); else look what is in it, then 'chmod go-w {}'",
                       path));
  refuse_writable(path, status);
}

/// A store that becomes one for a group: what is there already follows.
void share_entry(const Place& place, const Status& status) {
  const bool ours = status.st_uid == ::geteuid() || ::geteuid() == 0;
  if (!S_ISREG(status.st_mode) || !ours || (status.st_mode & 0060u) == 0060u) return;
  // Who cannot use it is told when it is opened.
  [[maybe_unused]] const int unchanged =
      ::fchmodat(place.folder.get(), place.name.c_str(), 0660, 0);
}

void check_entry(const Place& place, const std::string& path) {
  Status status{};
  if (::fstatat(place.folder.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    refuse_kind(path, "regular file or a folder");
  if (!has_trusted_owner(status, place.about)) refuse_owner(path, status);
  if (S_ISDIR(status.st_mode) && (status.st_mode & writable_by_others(is_shared(place.about))) != 0)
    refuse_writable(path, status);
  if (is_shared(place.about)) share_entry(place, status);
}

}  // namespace

std::string user_text(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  if (::getpwuid_r(user, &entry, text.data(), text.size(), &found) != 0 || !found)
    return std::to_string(user);
  return fmt::format("{} ({})", found->pw_name, user);
}

bool make_private_folder(const std::string& path, FilesFor whom,
                         std::optional<uid_t> trusted_owner) {
  const auto parent = std::filesystem::path{path}.parent_path();
  Status above{};
  if (!parent.empty() && ::stat(parent.c_str(), &above) != 0 && errno == ENOENT)
    make_private_folder(parent, whom == FilesFor::readers ? whom : FilesFor::owner);
  const auto place = place_of(path);
  const bool made = ::mkdirat(place.folder.get(), place.name.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) throw_errno("create the folder", path);
  FileDescriptor folder{::openat(place.folder.get(), place.name.c_str(),
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!folder && (errno == ENOTDIR || errno == ELOOP)) refuse_kind(path, "folder");
  Status status{};
  if (::fstatat(place.folder.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    throw_errno("look at the folder", path);
  check_folder(status, place, path, whom, trusted_owner);
  if (!folder) throw_errno("open the folder", path);
  const bool group = whom == FilesFor::group;
  const bool share = group && !is_shared(status) && status.st_uid == ::geteuid();
  if (made || share)
    hand_over(folder, path, folder_mode(whom),
              made ? trusted_owner.value_or(place.about.st_uid) : status.st_uid, place);
  return made;
}

void make_private_subfolder(const std::string& path) {
  const auto place = place_of(path);
  make_private_folder(path, is_shared(place.about) ? FilesFor::group : FilesFor::owner);
}

void expect_private_entries(const std::string& folder) {
  Place place{open_folder(folder), {}, {}};
  place.about = status_of(place.folder, folder);
  std::unique_ptr<DIR, int (*)(DIR*)> entries{::opendir(folder.c_str()), ::closedir};
  if (!entries) throw_errno("list the folder", folder);
  while (const dirent* entry = ::readdir(entries.get())) {
    place.name = entry->d_name;
    if (place.name != "." && place.name != "..") check_entry(place, folder + "/" + place.name);
  }
}

FileDescriptor open_private(const std::string& path, int flags) {
  return open_in(place_of(path), path, flags);
}

FileDescriptor try_open_private(const std::string& path, int flags) {
  try {
    return open_private(path, flags);
  } catch (const StoreError&) {
    return {};
  }
}

FileDescriptor look_at_private(const std::string& path) {
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file && lacks_resources(errno)) throw_errno("open", path);
  const auto parent = std::filesystem::path{path}.parent_path();
  Status status{}, folder{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      ::stat(parent.empty() ? "." : parent.c_str(), &folder) != 0 ||
      !has_trusted_owner(status, folder))
    return {};
  return file;
}

FileDescriptor create_private(const std::string& path, FilesFor whom) {
  const auto place = place_of(path);
  bool created = false;
  FileDescriptor file{open_unchecked(place, O_RDWR | O_CREAT | O_EXCL, created)};
  if (!file && errno == EEXIST) {
    Status status{};
    if (::fstatat(place.folder.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(status.st_mode))
      refuse_kind(path, "regular file");
    return {};
  }
  if (!file) throw_errno("create", path);
  hand_over(file, path, file_mode(whom), place.about.st_uid, place);
  return file;
}

}  // namespace holdfast
