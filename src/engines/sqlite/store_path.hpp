#pragma once

#include <optional>
#include <string>

/// What a path is that somebody takes for a store's, before anything is made beside it.
namespace holdfast::sqlite {

/// Throws `ConfigError` for what can be no store, such as a folder, and `StoreError` for a file
/// that we may not read. Fine if there is nothing.
void expect_readable_file(const std::string& path);

/// Nothing, or why the database may not be changed by us.
std::optional<std::string> why_not_ours_to_change(const std::string& path);

/// A file that is no database gets nothing beside it: throws `StoreUnusable`.
void refuse_other_files(const std::string& path);

/// A file with a second name has a second log beside that, and SQLite does not know of both: throws
/// `StoreUnusable`. To be called by whoever has the store alone, when no replacement is going on.
void refuse_second_name(const std::string& path);

}  // namespace holdfast::sqlite
