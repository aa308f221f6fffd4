#include "engines/filesystem/old_form.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engines/filesystem/side_file.hpp"
#include "engines/objects/digest.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::filesystem {

namespace {

constexpr std::size_t longest_head = 100;

std::string head_of(XXH64_hash_t sum, std::uint64_t bytes) {
  return fmt::format("{}{:016x} {}\n", old_begin, sum, bytes);
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

void go_to(const FileDescriptor& file, std::size_t place, const std::string& path) {
  if (::lseek(file.get(), static_cast<off_t>(place), SEEK_SET) < 0) throw_errno("read", path);
}

/// It is as old as the blob is, for those who remove what is old.
void keep_age(const FileDescriptor& file, const Status& old, const std::string& path) {
  const timespec times[2] = {old.st_mtim, old.st_mtim};
  if (::futimens(file.get(), times) != 0) throw_errno("set the time of", path);
  sync_file(file, path);
}

/// Who may read the old one may read the new one.
void keep_readers(const FileDescriptor& file, const Status& old, const std::string& path) {
  if ((old.st_mode & S_IRGRP) == 0) return;
  // Where we may not give it to that group, the mode is what this store is opened with.
  if (::fchown(file.get(), static_cast<uid_t>(-1), old.st_gid) != 0) return;
  if (::fchmod(file.get(), S_IRUSR | S_IWUSR | S_IRGRP) != 0) throw_errno("set the mode of", path);
}

/// False: the file at `path` is another one by now.
bool replace(const std::string& with, const std::string& path, const Status& old) {
  auto now = open_regular(path, O_RDWR);
  if (!now || status_of(now, path).st_ino != old.st_ino || !take_turn(now)) return false;
  if (status_of(path).st_ino != old.st_ino) return false;
  kill_point(KillPoint::convert_before_rename);
  if (std::rename(with.c_str(), path.c_str()) != 0) throw_errno("replace", path);
  kill_point(KillPoint::convert_after_rename);
  return true;
}

}  // namespace

std::optional<OldForm> old_form_of(const FileDescriptor& file, const Status& status,
                                   const std::string& path) {
  go_to(file, 0, path);
  std::string begin(longest_head, '\0');
  begin.resize(read_some(file, begin, path));
  go_to(file, 0, path);
  auto end = begin.find('\n');
  if (!begin.starts_with(old_begin) || end == begin.npos) return {};
  OldForm form{begin.substr(0, end + 1), 0};
  auto number = form.head.rfind(' ') + 1;
  std::from_chars(form.head.data() + number, form.head.data() + end, form.bytes);
  if (!std::cmp_equal(form.head.size() + form.bytes, status.st_size)) return {};
  return form;
}

bool read_old(const FileDescriptor& file, const OldForm& form, const std::string& path,
              const std::function<void(std::string_view)>& piece) {
  go_to(file, form.head.size(), path);
  Sum sum;
  std::uint64_t bytes = 0;
  read_rest(file, path, [&](std::string_view some) {
    sum.add(some);
    bytes += some.size();
    piece(some);
  });
  return form.head == head_of(sum.value(), bytes);
}

bool convert(const std::string& root, const std::string& path, FilesFor whom) {
  auto file = open_regular(path, O_RDONLY);
  if (!file) return false;
  auto old = status_of(file, path);
  auto form = old_form_of(file, old, path);
  if (!form) return false;
  Unfinished part{new_file_in(root)};
  auto content = create_file(part.path, whom);
  auto sum = objects::Digest::sha256();
  bool fits = read_old(file, *form, path, [&](std::string_view some) {
    sum.add(some);
    write_all(content, some, part.path);
  });
  if (!fits) return false;
  // If it is not used, it goes before the file is closed, whose number another one may have then.
  Unfinished side{side_path(path, status_of(content, part.path).st_ino)};
  write_side(side.path, {objects::hex(sum.take()), form->bytes, change_of(old)}, whom);
  const auto folder = path.substr(0, path.rfind('/'));
  sync_folder(folder);
  keep_readers(content, old, part.path);
  keep_age(content, old, part.path);
  side.kept = replace(part.path, path, old);
  if (side.kept) sync_folder(folder);
  return side.kept;
}

bool take_turn(const FileDescriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace holdfast::filesystem
