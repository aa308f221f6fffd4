#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/http/secrets.hpp>

namespace holdfast::cli {

/// Secrets and keys come by way of files: what is on a command line, everybody on the host can see.
/// Beside a file FILE there may be FILE.bind, which says where its content may be sent.

/// All of a file; nothing, with `errno`, for one that cannot be read to its end, such as a folder.
std::optional<std::string> content_of(const std::filesystem::path& path);
std::string without_line_end(std::string text);

/// The secret in the file `name` of `folder`, as systemd hands out credentials. Nothing: there is
/// none of that name, or it leads elsewhere. Throws for a file that is there and cannot be read, or
/// is empty: it may be just being written. The same goes for what it is bound to.
std::optional<http::Secret> secret_in(const std::filesystem::path& folder, const std::string& name);

/// What the file beside `path` says; where there is none, it is bound to nothing. Throws
/// `ConfigError` and `std::system_error`.
http::Binding binding_beside(const std::filesystem::path& path);

/// The names of the secrets in `folder` that have no file beside them, in order; none if the folder
/// cannot be listed.
std::vector<std::string> unbound_in(const std::filesystem::path& folder);

}  // namespace holdfast::cli
