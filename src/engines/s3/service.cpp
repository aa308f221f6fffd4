#include "engines/s3/service.hpp"

#include <charconv>

#include <fmt/format.h>

#include "engines/objects/digest.hpp"
#include "engines/objects/xml.hpp"
#include "engines/s3/upload.hpp"
#include "http/base64.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::s3 {

namespace {

using objects::element;
using objects::Meaning;
using objects::Reply;
using objects::Request;
using objects::Trouble;

constexpr const char* stamp_begin = "x-amz-meta-holdfast-";

std::chrono::sys_seconds time_in(std::string_view xml, std::string_view name) {
  if (auto time = parse_iso8601(element(xml, name).value_or("")))
    return std::chrono::floor<std::chrono::seconds>(*time);
  // What does not say when it was is new: it must not be taken for something old and removed.
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

http::Headers stamp_headers(const objects::Stamp& stamp) {
  const std::string begin = stamp_begin;
  http::Headers headers{{begin + "put", stamp.put}, {begin + "bytes", std::to_string(stamp.bytes)}};
  if (!stamp.sha256.empty()) headers[begin + "sha256"] = stamp.sha256;
  if (stamp.block > 0) headers[begin + "block"] = std::to_string(stamp.block);
  return headers;
}

ObjectService::ObjectService(Bucket bucket, objects::Place place)
    : bucket_{std::move(bucket)},
      place_{std::move(place)},
      signing_{fmt::format("aws:amz:{}:s3", bucket_.region)} {}

std::string ObjectService::stamp_prefix() const { return stamp_begin; }

void ObjectService::sign(Request& request) const {
  request.headers["x-amz-content-sha256"] =
      objects::hex(objects::Digest::sha256().add(request.body).take());
  if (!bucket_.session_token.empty())
    request.headers["x-amz-security-token"] = bucket_.session_token;
  // Otherwise libcurl would add one of its own.
  if (request.method == "PUT" || request.method == "POST")
    request.headers.try_emplace("content-type", "application/octet-stream");
}

void ObjectService::prepare(CURL* handle) const {
  curl_easy_setopt(handle, CURLOPT_AWS_SIGV4, signing_.c_str());
  curl_easy_setopt(handle, CURLOPT_USERNAME, bucket_.key_id.c_str());
  curl_easy_setopt(handle, CURLOPT_PASSWORD, bucket_.secret.c_str());
}

Request ObjectService::put(const std::string& path, const objects::Stamp& stamp,
                           std::string_view content) const {
  Request request{.method = "PUT", .path = path, .headers = stamp_headers(stamp), .body = content};
  request.headers["if-none-match"] = "*";
  request.headers["content-md5"] = http::base64(objects::Digest::md5().add(content).take());
  return request;
}

std::unique_ptr<objects::Upload> ObjectService::upload(objects::Exchange& exchange,
                                                       const std::string& path,
                                                       const objects::Stamp& stamp) const {
  return begin_upload(*this, exchange, path, stamp);
}

Request ObjectService::list(const std::string& prefix, const std::string& from) const {
  Request request{.path = bucket_path(), .query = {{"list-type", "2"}}};
  if (!prefix.empty()) request.query["prefix"] = prefix;
  if (!from.empty()) request.query["continuation-token"] = from;
  return request;
}

objects::Page ObjectService::page(const Reply& reply) const {
  objects::Page page;
  for (auto object : objects::elements(reply.body, "Contents")) {
    objects::Listed entry{.name = element(object, "Key").value_or(""),
                          .changed = time_in(object, "LastModified")};
    auto bytes = element(object, "Size").value_or("");
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), entry.bytes);
    page.entries.push_back(entry);
  }
  if (element(reply.body, "IsTruncated") == "true")
    page.next = element(reply.body, "NextContinuationToken").value_or("");
  return page;
}

int ObjectService::remove_unfinished(objects::Exchange& exchange, const std::string& prefix,
                                     std::chrono::seconds least_age) const {
  int removed = 0;
  Request request{.path = bucket_path(), .query = {{"uploads", ""}}};
  if (!prefix.empty()) request.query["prefix"] = prefix;
  while (true) {
    auto reply = exchange.send(request).reply;
    if (reply.status != 200) fail(*this, reply, "list unfinished uploads of", place_.name);
    for (auto upload : objects::elements(reply.body, "Upload")) {
      if (objects::time_of(reply) - time_in(upload, "Initiated") < least_age) continue;
      auto path = fmt::format("{}/{}", place_.root, element(upload, "Key").value_or(""));
      removed += drop_upload(exchange, path, element(upload, "UploadId").value_or(""));
    }
    if (element(reply.body, "IsTruncated") != "true") return removed;
    request.query["key-marker"] = element(reply.body, "NextKeyMarker").value_or("");
    request.query["upload-id-marker"] = element(reply.body, "NextUploadIdMarker").value_or("");
  }
}

void ObjectService::check(objects::Exchange& exchange) {
  if (checked_) return;
  auto path = fmt::format("{}/{}.holdfast-probe", place_.root, place_.prefix);
  for (int i = 0; i < 2; ++i) {
    auto reply = exchange.send(put(path, {.put = "probe"}, "")).reply;
    if (meaning(reply) == Meaning::there_already) {
      checked_ = true;
      return;
    }
    if (meaning(reply) != Meaning::done)
      fail(*this, reply, "write", exchange.server().origin + path);
  }
  throw BlobRefused{
      BlobRefused::Reason::service,
      fmt::format("{} does not heed If-None-Match: * and replaces what is there, so of two writers "
                  "both would win: use a server with conditional writes",
                  exchange.server().origin)};
}

Meaning ObjectService::meaning(const Reply& reply) const {
  auto code = code_of(reply);
  if (reply.status >= 200 && reply.status < 300)
    return reply.body.find("<Error>") == std::string::npos ? Meaning::done : Meaning::other;
  if (code == "NoSuchUpload" || code == "InvalidPart") return Meaning::blocks_gone;
  if (reply.status == 404 && (code == "NoSuchKey" || code.empty())) return Meaning::missing;
  return reply.status == 412 ? Meaning::there_already : Meaning::other;
}

std::optional<Trouble> ObjectService::trouble(const Reply& reply) const {
  using Reason = BlobRefused::Reason;
  auto code = code_of(reply);
  if (code == "NoSuchBucket")
    return Trouble{
        Reason::container,
        fmt::format("create the bucket '{0}', for example by: aws s3 mb s3://{0}", bucket_.name)};
  if (code == "InvalidBucketName")
    return Trouble{Reason::container,
                   fmt::format("'{}' is not a name that a bucket can have: 3 to 63 lowercase "
                               "letters, digits, dots and hyphens",
                               bucket_.name)};
  if (reply.status == 301 || code == "AuthorizationHeaderMalformed") {
    auto region = reply.header("x-amz-bucket-region");
    if (region.empty()) region = element(reply.body, "Region").value_or("REGION");
    return Trouble{
        Reason::service,
        fmt::format("the bucket '{}' is in another region: add ?region={} to its address",
                    bucket_.name, region)};
  }
  if (code == "InvalidToken" || code == "ExpiredToken")
    return Trouble{Reason::key, "the session token is wrong or has expired: get a new one"};
  if (reply.status != 403) return {};
  if (auto clock = clock_trouble(reply)) return clock;
  if (code == "InvalidAccessKeyId")
    return Trouble{Reason::key, fmt::format("there is no key with the id '{}'", bucket_.key_id)};
  if (code == "SignatureDoesNotMatch")
    return Trouble{Reason::key,
                   fmt::format("the secret is not that of the key '{}'", bucket_.key_id)};
  return Trouble{
      Reason::rights,
      fmt::format("the key '{}' has to be allowed s3:GetObject, PutObject, DeleteObject, "
                  "ListBucket, ListBucketMultipartUploads and AbortMultipartUpload on the "
                  "bucket '{}'",
                  bucket_.key_id, bucket_.name)};
}

}  // namespace holdfast::s3
