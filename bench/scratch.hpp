#pragma once

#include <filesystem>
#include <string>

namespace holdfast::bench {

/// A folder of its own for one store, removed with everything in it.
class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::string database() const { return folder_ / "work.db"; }
  std::string board() const { return folder_ / "board"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace holdfast::bench
