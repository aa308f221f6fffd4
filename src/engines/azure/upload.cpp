#include "engines/azure/upload.hpp"

#include <set>

#include <fmt/format.h>

#include "engines/objects/digest.hpp"
#include "engines/objects/xml.hpp"
#include "http/base64.hpp"

namespace holdfast::azure {

namespace {

using objects::Request;

class BlockUpload final : public objects::Upload {
 public:
  BlockUpload(const BlobService& service, objects::Exchange& exchange, std::string path,
              objects::Stamp stamp)
      : service_{service}, exchange_{exchange}, path_{std::move(path)}, stamp_{std::move(stamp)} {
    find_earlier();
  }

  void add(std::string_view block) override {
    // All names of a blob have to be of one length.
    auto sum = objects::hex(objects::Digest::sha256().add(block).take());
    auto id = http::base64(fmt::format("{:05}-{}", ids_.size(), sum.substr(0, 42)));
    ids_.push_back(id);
    if (earlier_.contains(id)) return;
    Request request{.method = "PUT", .path = path_, .query = {{"comp", "block"}, {"blockid", id}}};
    request.headers["content-md5"] = http::base64(objects::Digest::md5().add(block).take());
    request.body = block;
    auto reply = exchange_.send(request).reply;
    if (service_.meaning(reply) != objects::Meaning::done)
      fail(service_, reply, "write a block of", exchange_.server().origin + path_);
  }

  objects::Reply finish(const std::string& sha256) override {
    stamp_.sha256 = sha256;
    std::string list = R"(<?xml version="1.0" encoding="utf-8"?><BlockList>)";
    // Not the latest ones, which could be those of a blob that somebody else finished.
    for (const auto& id : ids_) list += fmt::format("<Uncommitted>{}</Uncommitted>", id);
    list += "</BlockList>";
    Request request{.method = "PUT", .path = path_, .query = {{"comp", "blocklist"}}};
    request.headers = stamp_headers(stamp_);
    request.headers["if-none-match"] = "*";
    request.headers["content-type"] = "application/xml";
    request.headers["x-ms-blob-content-type"] = "application/octet-stream";
    request.headers["content-md5"] = http::base64(objects::Digest::md5().add(list).take());
    request.body = list;
    return exchange_.send(request).reply;
  }

  /// The next attempt goes on with them, and Azure forgets them in the end.
  void drop() noexcept override {}

 private:
  void find_earlier() {
    auto reply = exchange_
                     .send({.path = path_,
                            .query = {{"comp", "blocklist"}, {"blocklisttype", "uncommitted"}}})
                     .reply;
    auto meaning = service_.meaning(reply);
    if (meaning == objects::Meaning::missing) return;
    if (meaning != objects::Meaning::done)
      fail(service_, reply, "look for blocks of", exchange_.server().origin + path_);
    for (auto block : objects::elements(reply.body, "Block"))
      if (auto id = objects::element(block, "Name")) earlier_.insert(*id);
  }

  const BlobService& service_;
  objects::Exchange& exchange_;
  std::string path_;
  objects::Stamp stamp_;
  std::set<std::string> earlier_;
  std::vector<std::string> ids_;
};

}  // namespace

std::unique_ptr<objects::Upload> begin_upload(const BlobService& service,
                                              objects::Exchange& exchange, const std::string& path,
                                              const objects::Stamp& stamp) {
  return std::make_unique<BlockUpload>(service, exchange, path, stamp);
}

}  // namespace holdfast::azure
