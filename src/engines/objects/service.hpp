#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "engines/objects/exchange.hpp"

namespace holdfast::objects {

/// What is written beside the content of a blob.
struct Stamp {
  std::string put;       ///< names this put, so that we know our own blob when we see it
  std::string sha256{};  ///< of the content; empty: not known in time
  std::uint64_t bytes = 0;
  std::uint64_t block = 0;  ///< the size of its parts; 0: it was written in one piece
};

/// A large blob on its way, block by block. Nobody sees it until it is finished.
class Upload {
 public:
  virtual ~Upload() = default;
  virtual void add(std::string_view block) = 0;
  virtual Reply finish(const std::string& sha256) = 0;
  /// Forgets what was sent. Does not throw: whoever calls this has worse to tell.
  virtual void drop() noexcept = 0;
};

struct Listed {
  std::string name;
  std::uint64_t bytes = 0;
  std::chrono::sys_seconds changed{};
  std::string upload{};  ///< of one that is not finished
  /// What we wrote beside it; empty: it is not ours; nothing: this service's lists do not say.
  std::optional<std::string> sha256{};
};
struct Page {
  std::vector<Listed> entries{};
  std::string next{};  ///< where the next page begins; empty: there is none
};

enum class Meaning {
  done,
  there_already,  ///< so it was not written
  missing,
  blocks_gone,  ///< somebody else finished or removed the upload
  other,
};

struct Trouble {
  BlobRefused::Reason reason;
  std::string advice;
};

/// What differs between services. Paths are those of requests.
class Service : public Signer {
 public:
  /// Writes a blob, if there is none.
  virtual Request put(const std::string& path, const Stamp& stamp,
                      std::string_view content) const = 0;
  virtual std::unique_ptr<Upload> upload(Exchange& exchange, const std::string& path,
                                         const Stamp& stamp) const = 0;
  virtual Request list(const std::string& prefix, const std::string& from) const = 0;
  virtual Page page(const Reply& reply) const = 0;
  virtual int remove_unfinished(Exchange& exchange, const std::string& prefix,
                                std::chrono::seconds least_age) const = 0;
  virtual Meaning meaning(const Reply& reply) const = 0;
  /// Nothing: somebody can do nothing about it but try again later.
  virtual std::optional<Trouble> trouble(const Reply& reply) const = 0;
  /// What the names of our own headers begin with.
  virtual std::string stamp_prefix() const = 0;
  /// Whether the reply to a DELETE says if there was something.
  virtual bool says_what_it_removed() const = 0;
  /// Makes sure, once, that the service does what is needed of it.
  virtual void check(Exchange& exchange) = 0;
};

/// The time by the service's clock; ours where it does not say.
std::chrono::sys_seconds time_of(const Reply& reply);
/// `<Code>`, or what a header says where there is no body.
std::string code_of(const Reply& reply);
/// The clocks are so far apart that no signature can be right.
std::optional<Trouble> clock_trouble(const Reply& reply);
/// Throws what a reply means that is not the one that was hoped for. `doing` is a verb.
[[noreturn]] void fail(const Service& service, const Reply& reply, std::string_view doing,
                       const std::string& what);

}  // namespace holdfast::objects
