#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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

/// The service that has the blobs will not do it, and will not next time either, unless somebody
/// does something about it. `what()` says what.
class BlobRefused : public BlobError {
 public:
  enum class Reason {
    key,        ///< it does not know us by this key
    container,  ///< there is no such container or bucket
    clock,      ///< our clock and its own are too far apart
    rights,     ///< it knows us, and does not let us
    service,    ///< it cannot do what we need of it
  };
  BlobRefused(Reason reason, const std::string& what) : BlobError{what}, reason_{reason} {}
  Reason reason() const { return reason_; }

 private:
  Reason reason_;
};

struct BlobInfo {
  std::string key;
  std::size_t bytes = 0;  ///< of the content
  std::chrono::seconds age{0};
  /// Of the content, in hexadecimal, as it is kept beside the blob; empty where a list does not
  /// say.
  std::string sha256{};
  /// It was not written by Holdfast, or changed since then: only reading it tells whether it is
  /// what was written.
  bool doubtful = false;
};

/// Content that is read as it is needed, for what is too large for memory.
class BlobSource {
 public:
  virtual ~BlobSource() = default;
  virtual std::uint64_t size() const = 0;
  /// The next bytes; returns how many, 0 at the end.
  virtual std::size_t read(std::span<char> into) = 0;
};

/// Content that is in memory already, and has to stay there for so long.
class BlobText final : public BlobSource {
 public:
  explicit BlobText(std::string_view text) : size_{text.size()}, left_{text} {}
  std::uint64_t size() const override { return size_; }
  std::size_t read(std::span<char> into) override;

 private:
  std::uint64_t size_;
  std::string_view left_;
};

/// Where large things are kept that would not do a queue good. A key is 1 to 200 characters out of
/// letters, digits, `-`, `_` and `.`, and does not begin with a dot; or several of these with `/`
/// between them, up to 900 characters. Safe to use from many threads and processes.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  /// Writes a blob that is durable when this returns, whole or not at all. False: there is one of
  /// that name already, and it stays as it is.
  virtual bool put(std::string_view key, std::string_view content) = 0;
  /// The same, a piece at a time.
  virtual bool put(std::string_view key, BlobSource& content) = 0;
  /// Nothing: there is none. Throws `BlobDamaged` where its checksum does not fit.
  virtual std::optional<std::string> get(std::string_view key) = 0;
  /// The same, a piece at a time: `piece` gets them in order. False: there is none. Whether it is
  /// damaged is known at its end, so nothing may be believed before this returns.
  virtual bool read(std::string_view key, const std::function<void(std::string_view)>& piece) = 0;
  /// True: it was there.
  virtual bool remove(std::string_view key) = 0;
  /// All of them whose keys begin with `prefix`, in order of their keys.
  virtual std::vector<BlobInfo> list(std::string_view prefix = {}) = 0;
  /// Removes what writers left that died more than `least_age` ago, before their blobs came into
  /// being. Returns how many such there were; where the service does this itself, none.
  virtual int remove_unfinished(std::chrono::seconds least_age) = 0;
  /// How others find a blob: an address of their own for it.
  virtual std::string address_of(std::string_view key) const = 0;
  /// For messages.
  virtual std::string name() const = 0;
};

bool is_blob_key(std::string_view key);
/// Throws `InvalidRequest` for what is no key of a blob.
void check_blob_key(std::string_view key);

/// Who may read the files and folders that a store of blobs in a folder makes.
enum class BlobMode {
  owner,  ///< 0600 and 0700
  group,  ///< 0640 and 0750: also the group of the folder
};

/// Opens a store of blobs by its address: `dir:/FOLDER`, which is created if it is not there;
/// `azure://ACCOUNT/CONTAINER` or `s3://BUCKET`, which have to be there. docs/blobs.md has all
/// forms of these, and where their keys come from. `mode` is for folders; what is there already
/// keeps its mode. Throws `ConfigError` for an address that makes no sense, and for a folder that
/// its group cannot read although it is to.
std::shared_ptr<BlobStore> open_blobs(std::string_view address, BlobMode mode = BlobMode::owner);

}  // namespace holdfast
