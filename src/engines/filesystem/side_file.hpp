#pragma once

#include <map>
#include <optional>

#include "engines/filesystem/blob_file.hpp"

/// The file of a blob is its content and nothing else. What was written is said by a file beside
/// it, its side file, which is there before the blob is. It is named after the blob and after the
/// number of the blob's file (its inode), so two writers of one blob never share one, and whoever
/// removes a blob removes what belongs to that one. No blob can have such a name: keys do not begin
/// with a dot.
namespace holdfast::filesystem {

struct Side {
  std::string sha256;
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  ///< when the content was written; see `change_of`

  bool operator==(const Side&) const = default;
};

/// A side file, or a mark, by its name.
struct SideName {
  std::string blob;  ///< the last part of its key
  ino_t file = 0;
};
std::optional<SideName> parse_side_name(std::string_view name);

/// Of the blob whose file is at `path`.
std::string side_path(const std::string& path, ino_t file);
/// Beside a blob whose content begins as files of earlier versions did, which it must not be taken
/// for if its side file was lost.
std::string mark_path(const std::string& path);
std::optional<std::string> parse_mark_name(std::string_view name);

/// Nothing: there is none, or it is not whole.
std::optional<Side> read_side(const std::string& path);
/// On disk when this returns, except for its name.
void write_side(const std::string& path, const Side& side, FilesFor whom);

/// Finds the side files of blobs whose files have other numbers than when they were written,
/// because the folder was copied or restored. Gives them their names where it is allowed to, and
/// returns the paths of those that it found, by the last part of the key.
std::map<std::string, std::string> find_sides(const std::string& folder);

/// The SHA-256 of a file's content from where it is read next, in hexadecimal.
std::string sha256_of(const FileDescriptor& file, const std::string& path);

}  // namespace holdfast::filesystem
