#include "engines/azure/service.hpp"

#include <charconv>
#include <ctime>

#include <fmt/format.h>

#include "engines/azure/shared_key.hpp"
#include "engines/azure/upload.hpp"
#include "engines/objects/digest.hpp"
#include "engines/objects/xml.hpp"
#include "http/base64.hpp"

namespace holdfast::azure {

namespace {

using objects::Meaning;
using objects::Reply;
using objects::Request;
using objects::Trouble;

constexpr const char* version = "2021-12-02";
constexpr const char* stamp_begin = "x-ms-meta-holdfast_";

/// What a list calls it: without what begins the name of every such header.
std::string metadata_name(std::string_view header) {
  constexpr std::string_view begin = "x-ms-meta-";
  return std::string{header.substr(begin.size())};
}

/// Not by the locale, which may have other names for days.
std::string http_date() {
  auto now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", days[utc.tm_wday], utc.tm_mday,
                     months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

http::Headers stamp_headers(const objects::Stamp& stamp) {
  const std::string begin = stamp_begin;
  http::Headers headers{{begin + "put", stamp.put}, {begin + "bytes", std::to_string(stamp.bytes)}};
  if (!stamp.sha256.empty()) headers[begin + "sha256"] = stamp.sha256;
  return headers;
}

std::string BlobService::stamp_prefix() const { return stamp_begin; }

void BlobService::sign(Request& request) const {
  request.headers["x-ms-version"] = version;
  // Otherwise libcurl would add one that the signature does not know.
  if (request.method == "PUT")
    request.headers.try_emplace("content-type", "application/octet-stream");
  if (account_.key.empty()) {
    request.more_query = account_.signature;
    return;
  }
  request.headers["x-ms-date"] = http_date();
  request.headers["authorization"] = shared_key(request, account_.name, account_.key);
}

Request BlobService::put(const std::string& path, const objects::Stamp& stamp,
                         std::string_view content) const {
  Request request{.method = "PUT", .path = path, .headers = stamp_headers(stamp), .body = content};
  request.headers["x-ms-blob-type"] = "BlockBlob";
  request.headers["if-none-match"] = "*";
  request.headers["content-md5"] = http::base64(objects::Digest::md5().add(content).take());
  return request;
}

std::unique_ptr<objects::Upload> BlobService::upload(objects::Exchange& exchange,
                                                     const std::string& path,
                                                     const objects::Stamp& stamp) const {
  return begin_upload(*this, exchange, path, stamp);
}

Request BlobService::list(const std::string& prefix, const std::string& from) const {
  Request request{.path = root_,
                  .query = {{"restype", "container"}, {"comp", "list"}, {"include", "metadata"}}};
  if (!prefix.empty()) request.query["prefix"] = prefix;
  if (!from.empty()) request.query["marker"] = from;
  return request;
}

objects::Page BlobService::page(const Reply& reply) const {
  objects::Page page;
  for (auto blob : objects::elements(reply.body, "Blob")) {
    objects::Listed entry{.name = objects::element(blob, "Name").value_or("")};
    auto bytes = objects::element(blob, "Content-Length").value_or("");
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), entry.bytes);
    auto changed = objects::element(blob, "Last-Modified").value_or("");
    entry.changed =
        std::chrono::sys_seconds{std::chrono::seconds{curl_getdate(changed.c_str(), nullptr)}};
    entry.sha256 = objects::element(blob, metadata_name(stamp_begin) + "sha256").value_or("");
    page.entries.push_back(entry);
  }
  page.next = objects::element(reply.body, "NextMarker").value_or("");
  return page;
}

Meaning BlobService::meaning(const Reply& reply) const {
  auto code = code_of(reply);
  if (reply.status >= 200 && reply.status < 300) return Meaning::done;
  if (reply.status == 404 && (code == "BlobNotFound" || code.empty())) return Meaning::missing;
  if (code == "BlobAlreadyExists" || reply.status == 412) return Meaning::there_already;
  if (code == "InvalidBlockList") return Meaning::blocks_gone;
  return Meaning::other;
}

std::optional<Trouble> BlobService::trouble(const Reply& reply) const {
  using Reason = BlobRefused::Reason;
  auto code = code_of(reply);
  if (code == "ContainerNotFound")
    return Trouble{
        Reason::container,
        fmt::format("create the container '{0}' in the account '{1}', for example by: az "
                    "storage container create --name {0} --account-name {1}",
                    account_.container, account_.name)};
  if (code == "InvalidResourceName")
    return Trouble{Reason::container,
                   fmt::format("'{}' is not a name that a container can have: 3 to 63 lowercase "
                               "letters, digits and hyphens",
                               account_.container)};
  if (reply.status != 401 && reply.status != 403) return {};
  if (auto clock = clock_trouble(reply)) return clock;
  bool unknown = reply.status == 401 || code == "AuthenticationFailed" ||
                 code == "AuthorizationFailure" || code == "InvalidAuthenticationInfo";
  if (!unknown)
    return Trouble{Reason::rights,
                   fmt::format("reading, creating, deleting and listing blobs has to be allowed in "
                               "the container '{}'",
                               account_.container)};
  return Trouble{
      Reason::key,
      account_.key.empty()
          ? fmt::format("the shared access signature for the account '{}' is wrong or has "
                        "expired: make a new one",
                        account_.name)
          : fmt::format("the key is not one of the account '{}': compare it with what "
                        "'az storage account keys list' shows",
                        account_.name)};
}

}  // namespace holdfast::azure
