#pragma once

#include <string>
#include <string_view>

#include "recovery/private_content.hpp"
#include "recovery/private_files.hpp"

namespace holdfast::server {

using holdfast::make_private_folder;
using holdfast::write_private_file;

/// 256 random bits as text that needs no quoting anywhere.
std::string random_secret();

/// Whether two texts are the same; takes as long whether they are or not.
bool same_secret(std::string_view one, std::string_view other);

/// A fixed-size stand-in for a secret, by which it can be found without keeping it.
std::string fingerprint(std::string_view text);

/// The content of a file that only its owner may read, who is us or root; made with a new secret if
/// it is not there. Throws `ConfigError` if others may read it or may have planted it, or it cannot
/// be read or made.
std::string secret_in_file(const std::string& path);

}  // namespace holdfast::server
