#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast::test {

/// The files of a store, as a crash would leave them.
struct Image {
  std::vector<std::uint8_t> database{};
  std::vector<std::uint8_t> log{};
  std::vector<std::uint8_t> shared{};  ///< the memory that connections share
};

/// A store with some of everything, and what is known about it.
struct Specimen {
  Image image{};
  Image older{};  ///< the same store some commits earlier
  std::map<TaskId, TaskRecord> tasks{};
  std::map<std::int64_t, std::string> notes{};  ///< a table of the user's in the same file
};

/// `with_log`: the last commits are in the write-ahead log only.
Specimen make_specimen(bool with_log);

/// Writes the files into a folder and returns the path of the database.
std::string lay_out(const Image& image, const std::string& folder);

std::map<std::int64_t, std::string> read_notes(const std::string& database);

}  // namespace holdfast::test
