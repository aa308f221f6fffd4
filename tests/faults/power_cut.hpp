#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "faults/file_calls.hpp"
#include "simulation/dice.hpp"

namespace holdfast::test {

/// What of the unsynced writes reaches the disk when the power goes.
enum class Cut {
  everything,  ///< all of it: only the processes are gone
  nothing,
  some,    ///< each write or not, whatever its place in the order
  first,   ///< up to some write, of which a part
  last,    ///< from some write on: the order was turned around
  torn,    ///< each sector of each write or not
  garbage  ///< the same, and some sectors are neither old nor new
};
std::string_view to_string(Cut cut);

/// The n-th way to cut the power: the simple ones first, then one after the other with other dice.
Cut cut_for(int n);

using Files = std::map<std::string, std::string>;  ///< name to content

/// A disk that remembers what was synced and what was written since.
class Disk {
 public:
  Disk() = default;
  /// With these files on it, all of them durable.
  explicit Disk(const Files& files);

  void apply(const Change& change);
  /// The files as they are found when the power is back.
  Files after(Cut cut, sim::Dice& dice) const;

 private:
  struct Content {
    std::string durable;
    std::vector<Change> waiting;
  };
  /// The name means this content from now on; nothing: it was removed.
  struct Naming {
    std::string name;
    std::optional<std::size_t> content;
  };
  std::size_t content_of(const std::string& name) const { return names_.at(name); }

  std::vector<Content> contents_;
  std::map<std::string, std::size_t> names_;          ///< as processes see them
  std::map<std::string, std::size_t> durable_names_;  ///< as they would be found
  std::vector<Naming> waiting_names_;
};

/// Puts the files into a folder.
void write_files(const std::string& folder, const Files& files);

}  // namespace holdfast::test
