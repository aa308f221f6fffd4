#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>

#include <holdfast/blobs.hpp>

#include "support/temp_store.hpp"

namespace holdfast::test {

/// What every store of blobs must do. The parameter opens the same one again and again, as several
/// processes would; each name is another one, which is empty at first.
struct BlobHome {
  std::string title;
  std::function<std::shared_ptr<BlobStore>(const std::string& name)> open;
};
void PrintTo(const BlobHome& home, std::ostream* out);

class Blobs : public testing::TestWithParam<BlobHome> {
 protected:
  std::shared_ptr<BlobStore> open_again() const {
    return GetParam().open(store_.folder().filename());
  }

  TempStore store_;
  std::shared_ptr<BlobStore> blobs_ = open_again();
};

/// Content that is never in memory as a whole.
class Pattern final : public BlobSource {
 public:
  explicit Pattern(std::uint64_t size) : size_{size} {}
  std::uint64_t size() const override { return size_; }
  std::size_t read(std::span<char> into) override;
  static char byte_at(std::uint64_t at) { return static_cast<char>(at * 31 + at / 251); }
  static std::string text(std::uint64_t size);

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

/// How many bytes of a blob are those of the pattern; -1: not all are.
std::int64_t bytes_of_pattern(BlobStore& blobs, const std::string& key);

}  // namespace holdfast::test
