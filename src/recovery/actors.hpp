#pragma once

#include <string_view>

/// Who changes tasks where no person, client or worker does, as it is in histories and events.
namespace holdfast::actors {

inline constexpr std::string_view system = "system/";  ///< what they all begin with

inline constexpr std::string_view clean_up = "system/clean-up";
inline constexpr std::string_view dependency = "system/dependency";  ///< what it waited for ended
inline constexpr std::string_view integrity = "system/integrity";    ///< a claim found damage
inline constexpr std::string_view move = "system/move";              ///< to another store
inline constexpr std::string_view recovery = "system/recovery";
inline constexpr std::string_view repair = "system/repair";
inline constexpr std::string_view restore = "system/restore";  ///< of a backup
inline constexpr std::string_view schedule = "system/schedule";

}  // namespace holdfast::actors
