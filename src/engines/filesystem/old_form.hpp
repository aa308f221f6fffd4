#pragma once

#include <optional>

#include "engines/filesystem/blob_file.hpp"

/// Files that begin with a line of our own, which earlier versions wrote: checksum and size, then
/// the content. They are read, and become files that are their content alone.
namespace holdfast::filesystem {

inline constexpr std::string_view old_begin = "holdfast-blob 1 ";

struct OldForm {
  std::string head;         ///< the line
  std::uint64_t bytes = 0;  ///< of the content
};
/// Whether a file begins with a line that fits its size; it is read from its beginning.
std::optional<OldForm> old_form_of(const FileDescriptor& file, const Status& status,
                                   const std::string& path);

/// Reads the content of a file in the old form; false: it is not what was written there.
bool read_old(const FileDescriptor& file, const OldForm& form, const std::string& path,
              const std::function<void(std::string_view)>& piece);

/// Puts a file that is the content alone in the place of one in the old form. Until then the old
/// one is there, and read. False: it is damaged, or is another one by now, or another process is
/// about to replace or remove it. Throws `BlobError` where there is no room or no right to do so.
bool convert(const std::string& root, const std::string& path, FilesFor whom);

/// Of those who convert a file and who remove it, only one may act. Waits for nobody; false:
/// another process has it, and ends with it in a moment.
bool take_turn(const FileDescriptor& file);

}  // namespace holdfast::filesystem
