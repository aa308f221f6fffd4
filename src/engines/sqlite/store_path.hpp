#pragma once

#include <optional>
#include <string>

#include "recovery/private_files.hpp"

/// What a path is that somebody takes for a store's, before anything is made beside it.
namespace holdfast::sqlite {

/// The file itself, where `path` is a symbolic link to it: SQLite keeps the log beside that. A link
/// that leads nowhere stays what it is.
std::string real_database(const std::string& path);

/// Throws `ConfigError` for what can be no store, such as a folder, and `StoreError` for a file
/// that we may not read. Fine if there is nothing.
void expect_readable_file(const std::string& path);

/// Nothing, or why the database may not be changed by us.
std::optional<std::string> why_not_ours_to_change(const std::string& path);

/// The database and what SQLite keeps beside it (`-wal`, `-shm`, `-journal`) must be files of ours
/// or of root, or, for a group, of the group of their folder: else throws `ConfigError`. What is
/// not there is fine. Root may use the database of any user.
void refuse_planted_database(const std::string& path, FilesFor whom);

/// Creates an empty database file with the mode that it is to have, which SQLite gives to its log
/// too. Nothing if there is one. Throws `ConfigError` for a symbolic link that leads nowhere.
void create_database(const std::string& path, FilesFor whom);

/// Nothing, or a sentence that users who are not of the database's group may read or change it.
std::optional<std::string> open_to_others(const std::string& path);

/// A file that is no database gets nothing beside it: throws `StoreUnusable`.
void refuse_other_files(const std::string& path);

/// A file with a second name has a second log beside that, and SQLite does not know of both: throws
/// `StoreUnusable`. To be called by whoever has the store alone, when no replacement is going on.
void refuse_second_name(const std::string& path);

}  // namespace holdfast::sqlite
