#include "engines/s3/upload.hpp"

#include <fmt/format.h>

#include "engines/objects/digest.hpp"
#include "engines/objects/xml.hpp"
#include "http/base64.hpp"

namespace holdfast::s3 {

namespace {

using objects::Request;

class PartUpload final : public objects::Upload {
 public:
  PartUpload(const ObjectService& service, objects::Exchange& exchange, std::string path,
             const objects::Stamp& stamp)
      : service_{service}, exchange_{exchange}, path_{std::move(path)} {
    Request request{.method = "POST",
                    .path = path_,
                    .query = {{"uploads", ""}},
                    .headers = stamp_headers(stamp)};
    auto reply = exchange_.send(request).reply;
    auto id = objects::element(reply.body, "UploadId");
    if (service_.meaning(reply) != objects::Meaning::done || !id) stop(reply, "begin");
    id_ = *id;
  }

  void add(std::string_view block) override {
    Request request{.method = "PUT",
                    .path = path_,
                    .query = {{"partNumber", std::to_string(etags_.size() + 1)}, {"uploadId", id_}},
                    .body = block};
    request.headers["content-md5"] = http::base64(objects::Digest::md5().add(block).take());
    auto reply = exchange_.send(request).reply;
    if (service_.meaning(reply) != objects::Meaning::done) stop(reply, "write a part of");
    etags_.push_back(reply.header("etag"));
  }

  /// The sum comes too late: what is written beside an object is said when it is begun.
  objects::Reply finish(const std::string&) override {
    std::string parts = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags_.size(); ++i)
      parts +=
          fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, etags_[i]);
    parts += "</CompleteMultipartUpload>";
    Request request{.method = "POST", .path = path_, .query = {{"uploadId", id_}}, .body = parts};
    request.headers["content-type"] = "application/xml";
    request.headers["if-none-match"] = "*";
    return exchange_.send(request).reply;
  }

  void drop() noexcept override {
    try {
      drop_upload(exchange_, path_, id_);
    } catch (const std::exception&) {
      // Then `remove_unfinished` does it later.
    }
  }

 private:
  [[noreturn]] void stop(const objects::Reply& reply, std::string_view doing) const {
    fail(service_, reply, doing, exchange_.server().origin + path_);
  }

  const ObjectService& service_;
  objects::Exchange& exchange_;
  std::string path_;
  std::string id_;
  std::vector<std::string> etags_;
};

}  // namespace

std::unique_ptr<objects::Upload> begin_upload(const ObjectService& service,
                                              objects::Exchange& exchange, const std::string& path,
                                              const objects::Stamp& stamp) {
  return std::make_unique<PartUpload>(service, exchange, path, stamp);
}

bool drop_upload(objects::Exchange& exchange, const std::string& path, const std::string& id) {
  auto reply = exchange.send({.method = "DELETE", .path = path, .query = {{"uploadId", id}}}).reply;
  return reply.status >= 200 && reply.status < 300;
}

}  // namespace holdfast::s3
