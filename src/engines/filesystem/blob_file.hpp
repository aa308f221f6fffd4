#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/blobs.hpp>

#include "recovery/private_files.hpp"

/// What the files of a folder of blobs have in common. Everything throws `BlobError`.
namespace holdfast::filesystem {

using Status = struct stat;

inline constexpr std::size_t piece_size = 1 << 20;

[[noreturn]] void throw_errno(std::string_view doing, const std::string& path);

/// A new file, which is in no folder that anybody lists: `.new-ID`.
std::string new_file_in(const std::string& folder);
bool is_unfinished(std::string_view name);
FileDescriptor create_file(const std::string& path, FilesFor whom);
/// Opens a regular file without following a link; empty: there is none, or what is there is none.
FileDescriptor open_regular(const std::string& path, int flags);
Status status_of(const FileDescriptor& file, const std::string& path);
/// Nothing is there: `st_nlink` is 0.
Status status_of(const std::string& path);

void write_all(const FileDescriptor& file, std::string_view bytes, const std::string& path);
std::size_t read_some(const FileDescriptor& file, std::span<char> into, const std::string& path);
/// All that follows, a piece at a time.
void read_rest(const FileDescriptor& file, const std::string& path,
               const std::function<void(std::string_view)>& piece);
void sync_file(const FileDescriptor& file, const std::string& path);
void sync_folder(const std::string& folder);

std::chrono::seconds age_of(const Status& status);
/// When the content last changed, in nanoseconds.
std::int64_t change_of(const Status& status);

/// The names in a folder; empty where it is not there. One descriptor, closed again.
std::vector<std::string> names_in(const std::string& folder);

/// A file that goes with this object, unless it is kept.
struct Unfinished {
  std::string path;
  bool kept = false;
  explicit Unfinished(std::string name) : path{std::move(name)} {}
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
};

}  // namespace holdfast::filesystem
