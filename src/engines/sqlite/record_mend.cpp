#include "engines/sqlite/record_mend.hpp"

namespace holdfast::sqlite {

namespace {

// Trying takes the square of the length: this much is about a second.
constexpr std::size_t longest = 16'384;

}  // namespace

std::optional<Record> mend_record(Blob bytes, const TableShape& table,
                                  const std::function<bool(const Record&)>& fits) {
  if (bytes.size() > longest) return {};
  std::optional<Record> mended;
  for (auto& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      auto mask = static_cast<std::uint8_t>(1 << bit);
      byte ^= mask;
      auto record = table.read(bytes);
      byte ^= mask;
      if (!record || !fits(*record)) continue;
      if (mended) return {};
      mended = std::move(record);
    }
  }
  return mended;
}

}  // namespace holdfast::sqlite
