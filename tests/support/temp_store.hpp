#pragma once

#include <filesystem>
#include <string>

namespace holdfast::test {

/// A folder of its own for one test, with the place for a store in it; gone afterwards. With
/// `HOLDFAST_KEEP` in the environment it stays, to look at what a failing test left.
class TempStore {
 public:
  TempStore();
  ~TempStore();
  TempStore(const TempStore&) = delete;
  TempStore& operator=(const TempStore&) = delete;

  std::filesystem::path folder() const { return folder_; }
  std::string database() const { return folder_ / "work.db"; }
  std::string address() const { return "sqlite:" + database(); }
  std::string journals() const { return folder_ / "journals"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace holdfast::test
