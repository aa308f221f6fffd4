#pragma once

#include <string>

namespace holdfast::sqlite {

/// A file that takes up room on the disk to give it away when somebody else has used up the rest:
/// then running work can still settle. Any process of a store may do either.
class Ballast {
 public:
  explicit Ballast(std::string path) : path_{std::move(path)} {}

  /// Makes the file as large as it should be, where there is plenty of room. Nothing depends on
  /// it, so nobody is told where that fails.
  void take_on() const;
  /// False: there was none left.
  bool throw_off() const;

 private:
  std::string path_;
};

}  // namespace holdfast::sqlite
