#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/error.hpp>

namespace holdfast {

/// Blobs could not be read or written. Trying again later may help.
class BlobError : public Error {
  using Error::Error;
};

/// A blob is there, and is not what was written.
class BlobDamaged : public BlobError {
  using BlobError::BlobError;
};

struct BlobInfo {
  std::string key;
  std::size_t bytes = 0;  ///< of the content
  std::chrono::seconds age{0};
};

/// Where large things are kept that would not do a queue good. A key is 1 to 200 characters out of
/// letters, digits, `-`, `_` and `.`, and does not begin with a dot. Safe to use from many threads
/// and processes.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  /// Writes a blob that is durable when this returns, whole or not at all. False: there is one of
  /// that name already, and it stays as it is.
  virtual bool put(std::string_view key, std::string_view content) = 0;
  /// Nothing: there is none. Throws `BlobDamaged` where its checksum does not fit.
  virtual std::optional<std::string> get(std::string_view key) = 0;
  /// True: it was there.
  virtual bool remove(std::string_view key) = 0;
  /// All of them, in order of their keys.
  virtual std::vector<BlobInfo> list() = 0;
  /// For messages.
  virtual std::string name() const = 0;
};

/// Opens a store of blobs by its address: `dir:/FOLDER`, which is created if it is not there.
/// Throws `ConfigError` for an address that makes no sense.
std::shared_ptr<BlobStore> open_blobs(std::string_view address);

}  // namespace holdfast
