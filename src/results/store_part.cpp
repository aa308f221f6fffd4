#include "results/store_part.hpp"

#include <sodium.h>

#include <fmt/format.h>

#include "recovery/time_text.hpp"

namespace holdfast::results {

namespace {

constexpr std::size_t piece_size = 1 << 20;

class Sha256 {
 public:
  Sha256() { crypto_hash_sha256_init(&state_); }
  void add(std::string_view piece) {
    crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(piece.data()),
                              piece.size());
  }
  std::string text() {
    unsigned char sum[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&state_, sum);
    std::string text;
    for (auto byte : sum) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  crypto_hash_sha256_state state_{};
};

/// The bytes of a part, as a blob is made of them; sums them up on their way.
class PartBytes final : public BlobSource {
 public:
  PartBytes(Delivery& delivery, std::uint64_t from) : delivery_{delivery}, from_{from}, at_{from} {}
  std::uint64_t size() const override { return delivery_.size() - from_; }
  std::size_t read(std::span<char> into) override {
    auto some = delivery_.read(at_, into);
    sum_.add({into.data(), some});
    at_ += some;
    return some;
  }
  std::string sum() { return sum_.text(); }

 private:
  Delivery& delivery_;
  std::uint64_t from_;
  std::uint64_t at_;
  Sha256 sum_;
};

StoredPart stored_now(std::string key, std::int64_t size, std::string sum) {
  auto now = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  return {std::move(key), size, std::move(sum), iso8601(now)};
}

}  // namespace

StoredPart part_of(const std::string& line) {
  return detail::read_of_transaction<StoredPart>(line, "line of the ledger");
}

std::string place(const LedgerEntry& entry) {
  return fmt::format("{} of series '{}'", entry.ordinal, entry.series);
}

std::string sum_of_blob(BlobStore& blobs, const std::string& key) {
  Sha256 sum;
  try {
    if (!blobs.read(key, [&](std::string_view piece) { sum.add(piece); })) return {};
  } catch (const BlobDamaged&) {
    return {};
  }
  return sum.text();
}

std::string sum_of(Delivery& delivery, const PartMessage& part) {
  PartBytes bytes{delivery, part.body_at};
  std::string buffer(std::min<std::uint64_t>(bytes.size() + 1, piece_size), '\0');
  while (bytes.read(buffer) > 0) {
  }
  auto sum = bytes.sum();
  if (!part.sha256.empty() && part.sha256 != sum)
    throw Malformed{fmt::format(
        "part {} of '{}' is not what its producer sent: its SHA-256 is {} and was to be {}",
        part.ordinal, part.series, sum, part.sha256)};
  return sum;
}

StoredPart store_part(BlobStore& blobs, Delivery& delivery, const PartMessage& part,
                      std::string key) {
  // A part that is not what was sent must not become a blob, so its sum comes first if it is known.
  std::string sum = part.sha256.empty() ? std::string{} : sum_of(delivery, part);
  PartBytes bytes{delivery, part.body_at};
  auto size = static_cast<std::int64_t>(bytes.size());
  if (blobs.put(key, bytes)) return stored_now(key, size, bytes.sum());
  if (sum.empty()) sum = sum_of(delivery, part);
  if (sum_of_blob(blobs, key) == sum) return stored_now(key, size, sum);
  constexpr std::string_view ending = ".blob";
  key.insert(key.size() - ending.size(), "-" + sum.substr(0, 16));
  PartBytes again{delivery, part.body_at};
  if (blobs.put(key, again) || sum_of_blob(blobs, key) == sum) return stored_now(key, size, sum);
  throw BlobDamaged{fmt::format("{} is damaged, so part {} of '{}' cannot be kept there",
                                blobs.address_of(key), part.ordinal, part.series)};
}

}  // namespace holdfast::results
