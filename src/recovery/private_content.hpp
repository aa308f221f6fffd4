#pragma once

#include <string>
#include <string_view>

/// Whole files that are only for their owner; see private_files.hpp.
namespace holdfast {

/// What a file contains; nothing if it is absent, may not be read, or would be refused.
std::string read_private_file(const std::string& path);

/// Replaces a file in one step by one that only its owner may read, on disk when it returns. Keeps
/// the owner and group of the file that it replaces, and that its group may read it; a new file
/// that root makes is for the owner of the folder. Throws `ConfigError`, also where it would
/// replace a symbolic link or the file of another user. Any thread may call it.
void write_private_file(const std::string& path, std::string_view content);

/// Why the open file at `path` is not to be believed when it says who may do what: others could
/// have written it. Nothing if it may be. Root also believes the owner of the folder.
std::string why_untrusted(int file, const std::string& path);

/// What a file says about who may do what. Throws `ConfigError` that begins with `what` if it
/// cannot be read or is not to be believed.
std::string read_trusted_file(const std::string& path, std::string_view what);

}  // namespace holdfast
