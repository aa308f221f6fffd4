#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include <boost/json/value.hpp>

#include <holdfast/blobs.hpp>
#include <holdfast/error.hpp>
#include <holdfast/ids.hpp>

namespace holdfast::http {

/// Keys that payloads are encrypted or signed with, by name. New ones take `current`; the others
/// are for what was sealed before. A key is 32 bytes.
struct Keyring {
  std::string current{};  ///< empty: nothing is encrypted or signed
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
  /// Sign with the current key instead of encrypting: what is in the store can be read, searched
  /// and shown, and still be made by holders of a key only. Readers accept both.
  bool sign_only = false;
  /// With a current key, requests and answers that are neither encrypted nor signed are refused,
  /// because anyone who can write to the store could have made them. True: they are read, while
  /// there are some from before the key was set.
  bool accept_plain = false;
  /// Earlier versions did not bind what they encrypted to its task. False: that is refused.
  bool accept_unbound = true;
  /// Other kinds whose payloads must be encrypted or signed, where programs and remote workers read
  /// them. A name that ends with `*` stands for all that begin with the rest.
  std::set<std::string> sealed_kinds{};
};

/// Throws `ConfigError` for keys that are none, and for kinds that must be sealed without a key.
void validate(const PayloadOptions& options);

/// What a sealed text belongs to. It can be opened as this part of this task only; copied to
/// another one it is refused. All of it stays the same for as long as there is the task.
struct SealedFor {
  enum class Part { payload, result };

  TaskId task{};
  std::string kind{};
  std::string queue{};
  Part part = Part::payload;
};

/// A payload that must not be opened: it was sealed for another task or changed since, it names a
/// blob of another task, or it is neither encrypted nor signed where it has to be. Its task is held
/// until an operator decides.
class PayloadRefused : public InvalidRequest {
  using InvalidRequest::InvalidRequest;
};

/// The payload for `document`, encrypted or signed, and put elsewhere as the options say. `key`
/// names the blob, if it becomes one: see `is_blob_of`. Durable when this returns.
std::string seal(const boost::json::value& document, const SealedFor& owner, const std::string& key,
                 const PayloadOptions& options);

/// The same for one that is JSON text already. Where this throws, the document is as it was.
std::string seal_text(std::string&& document, const SealedFor& owner, const std::string& key,
                      const PayloadOptions& options);

/// Whether it is what `seal` makes where it encrypts, signs or puts elsewhere.
bool is_sealed(std::string_view payload);

/// Whether a blob of this name can only be this part of this task: `STORE.TASK` is the payload of a
/// task, `STORE.TASK.ANY` a result. The first part is missing in names that earlier versions gave.
bool is_blob_of(std::string_view name, TaskId task, SealedFor::Part part);

/// The blob that the payload of `task` was put into; empty: none, or one of another task.
std::string blob_of(std::string_view payload, TaskId task);

struct Unsealed {
  boost::json::value document;
  std::string blob{};      ///< where it was; empty: in the payload itself
  bool authentic = false;  ///< encrypted or signed with a key of ours
  bool unbound = false;    ///< encrypted by an earlier version
};
/// The way back. Throws `PayloadRefused`, `InvalidRequest` where the payload, the key or the blob
/// is not there or not what it should be, and `BlobError` where blobs cannot be reached.
Unsealed unseal(std::string_view payload, const SealedFor& owner, const PayloadOptions& options);

/// Throws `PayloadRefused` where a request or an answer has to be sealed with a key and is not.
void expect_sealed(bool authentic, const PayloadOptions& options);

/// Whether payloads of this kind must be encrypted or signed, as `sealed_kinds` says.
bool must_be_sealed(std::string_view kind, const PayloadOptions& options);

}  // namespace holdfast::http
