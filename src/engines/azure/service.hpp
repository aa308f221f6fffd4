#pragma once

#include <string>

#include "engines/objects/service.hpp"

namespace holdfast::azure {

struct Account {
  std::string name;
  std::string container;
  std::string key{};        ///< bytes; empty: there is a signature
  std::string signature{};  ///< a shared access signature, as it goes into a query
};

/// The headers that say what belongs to a blob.
http::Headers stamp_headers(const objects::Stamp& stamp);

/// How blobs are asked for in Azure's protocol.
class BlobService final : public objects::Service {
 public:
  /// `root` is the path of the container.
  BlobService(Account account, std::string root)
      : account_{std::move(account)}, root_{std::move(root)} {}

  void sign(objects::Request& request) const override;
  objects::Request put(const std::string& path, const objects::Stamp& stamp,
                       std::string_view content) const override;
  std::unique_ptr<objects::Upload> upload(objects::Exchange& exchange, const std::string& path,
                                          const objects::Stamp& stamp) const override;
  objects::Request list(const std::string& prefix, const std::string& from) const override;
  objects::Page page(const objects::Reply& reply) const override;
  /// Azure forgets blocks that nobody finished a week after the last of them, and can be asked for
  /// no less: removing them would need a blob of that name, which others could see.
  int remove_unfinished(objects::Exchange&, const std::string&,
                        std::chrono::seconds) const override {
    return 0;
  }
  objects::Meaning meaning(const objects::Reply& reply) const override;
  std::optional<objects::Trouble> trouble(const objects::Reply& reply) const override;
  std::string stamp_prefix() const override;
  bool says_what_it_removed() const override { return true; }
  void check(objects::Exchange&) override {}

 private:
  Account account_;
  std::string root_;
};

}  // namespace holdfast::azure
