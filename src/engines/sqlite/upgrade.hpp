#pragma once

#include <optional>
#include <string>

#include "engines/sqlite/side_files.hpp"
#include "engines/sqlite/writer.hpp"

/// Taking a store of an earlier version to this one. Who opens it first, and so is alone with it,
/// makes a backup and then changes the tables in one transaction. Killed on the way, the next one
/// does both again. Where that cannot be done, the store is shown as it is, and not written.
namespace holdfast::sqlite {

/// What the backup of a store is called that is made before its tables are changed. Without a
/// version: what all of them begin with.
std::string backup_name(const std::string& path, std::optional<int> version = {});

/// Makes that backup, in place of an earlier one of that name. Throws `StoreReadOnly`, with a
/// sentence for people, where there is no room for it, and `StoreUnusable` if the store is damaged.
void back_up_for_upgrade(const std::string& path, int version, WallTime now);

/// Takes the tables from that version to this one. Only for who is alone with the store, and has
/// made the backup.
void upgrade(Writer& writer, int version);

/// For a store that others have open: a sentence that says so, and who that is.
std::string why_not_upgraded(const std::string& path, const SideFiles& files, int version);

}  // namespace holdfast::sqlite
