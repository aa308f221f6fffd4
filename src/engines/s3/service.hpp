#pragma once

#include <atomic>
#include <string>

#include "engines/objects/object_store.hpp"
#include "engines/objects/service.hpp"

namespace holdfast::s3 {

struct Bucket {
  std::string name;
  std::string region;
  std::string key_id;
  std::string secret;
  std::string session_token{};
};

/// The headers that say what belongs to an object.
http::Headers stamp_headers(const objects::Stamp& stamp);

/// How objects are asked for in S3's protocol. Libcurl signs; that of Debian 12 (7.88) signs what
/// it gets as it is, so everything is given to it in the form that S3 wants: the query in order,
/// encoded and with an equals sign everywhere, the sum of the body, and no two headers one of which
/// begins with the name of the other.
class ObjectService final : public objects::Service {
 public:
  ObjectService(Bucket bucket, objects::Place place);

  void sign(objects::Request& request) const override;
  void prepare(CURL* handle) const override;
  objects::Request put(const std::string& path, const objects::Stamp& stamp,
                       std::string_view content) const override;
  std::unique_ptr<objects::Upload> upload(objects::Exchange& exchange, const std::string& path,
                                          const objects::Stamp& stamp) const override;
  objects::Request list(const std::string& prefix, const std::string& from) const override;
  objects::Page page(const objects::Reply& reply) const override;
  int remove_unfinished(objects::Exchange& exchange, const std::string& prefix,
                        std::chrono::seconds least_age) const override;
  objects::Meaning meaning(const objects::Reply& reply) const override;
  std::optional<objects::Trouble> trouble(const objects::Reply& reply) const override;
  std::string stamp_prefix() const override;
  bool says_what_it_removed() const override { return false; }
  /// There are servers that speak like S3 and replace what is there all the same. One blob, whose
  /// name is no key, shows whether this is one.
  void check(objects::Exchange& exchange) override;

 private:
  std::string bucket_path() const { return place_.root.empty() ? "/" : place_.root; }

  Bucket bucket_;
  objects::Place place_;
  std::string signing_;
  std::atomic<bool> checked_ = false;
};

}  // namespace holdfast::s3
