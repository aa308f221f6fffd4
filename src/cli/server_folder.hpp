#pragma once

#include <optional>
#include <string>

namespace holdfast::cli {

/// Where a server of this store keeps its token and its audit log unless --state names another
/// folder: beside the file of a SQLite store, else where programs of a user keep what is theirs.
/// Nothing: there is no home for that.
std::optional<std::string> server_folder(const std::string& store);

/// Makes the folder beside the file of a SQLite store that the server's is in, or checks it before
/// anything in it is believed. Does nothing for other stores. Throws `ConfigError`.
void make_folder_above_server(const std::string& store);

}  // namespace holdfast::cli
