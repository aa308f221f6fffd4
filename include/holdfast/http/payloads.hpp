#pragma once

#include <map>
#include <memory>
#include <string>

#include <boost/json/value.hpp>

#include <holdfast/blobs.hpp>

namespace holdfast::http {

/// Keys that payloads are encrypted with, by name. New ones are encrypted with `current`; the
/// others are for what was encrypted before. A key is 32 bytes.
struct Keyring {
  std::string current{};  ///< empty: nothing is encrypted
  std::map<std::string, std::string> keys{};
};

/// How requests and answers are kept in a store. Clients, processors and callbacks must agree on
/// it: what one of them encrypts or puts elsewhere, another has to read.
struct PayloadOptions {
  std::shared_ptr<BlobStore> blobs{};  ///< none: everything is in the store itself
  std::size_t threshold = 65'536;      ///< larger ones (bytes of JSON) go to `blobs`
  /// A blob without a task may be one whose task is about to come. After this time it is not, and
  /// processors, which look for such as often, remove it.
  std::chrono::seconds orphan_age{3'600};
  Keyring keyring{};
};

/// Throws `ConfigError` for keys that are none.
void validate(const PayloadOptions& options);

/// The payload for `document`, encrypted and put elsewhere as the options say. `key` names the
/// blob, if it becomes one; durable when this returns.
std::string seal(const boost::json::value& document, const std::string& key,
                 const PayloadOptions& options);

/// The same for one that is JSON text already. Where this throws, the document is as it was.
std::string seal_text(std::string&& document, const std::string& key,
                      const PayloadOptions& options);

/// Whether it is what `seal` makes where it encrypts or puts elsewhere.
bool is_sealed(std::string_view payload);

/// The blob that it was put into; empty: none.
std::string blob_of(std::string_view payload);

struct Unsealed {
  boost::json::value document;
  std::string blob{};  ///< where it was; empty: in the payload itself
};
/// The way back. Throws `InvalidRequest` where the payload, the key or the blob is not what it
/// should be, and `BlobError` where blobs cannot be reached.
Unsealed unseal(std::string_view payload, const PayloadOptions& options);

}  // namespace holdfast::http
