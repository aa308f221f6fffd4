#include "engines/s3/target.hpp"

#include <fmt/format.h>

#include "engines/objects/address.hpp"

namespace holdfast::s3 {

namespace {

using objects::from_environment;

void take_region(const objects::Address& address, Bucket& bucket) {
  bucket.region = address.parameter("region");
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (bucket.region.empty()) bucket.region = from_environment(name);
  if (bucket.region.empty()) bucket.region = "us-east-1";
  // It becomes part of what libcurl takes apart at colons.
  if (bucket.region.find(':') != std::string::npos)
    throw ConfigError{fmt::format("'{}' is not the name of a region", bucket.region)};
}

void take_keys(const objects::Address& address, Bucket& bucket) {
  if (auto file = address.parameter("key_file"); !file.empty()) {
    auto lines = objects::lines_of(file);
    if (lines.size() != 2 && lines.size() != 3)
      throw ConfigError{fmt::format(
          "the file {} has to have the id of a key on its first line, the secret on the "
          "second, and on a third one the session token, if there is one",
          file)};
    bucket.key_id = lines[0];
    bucket.secret = lines[1];
    if (lines.size() == 3) bucket.session_token = lines[2];
  } else {
    bucket.key_id = from_environment("AWS_ACCESS_KEY_ID");
    bucket.secret = from_environment("AWS_SECRET_ACCESS_KEY");
    bucket.session_token = from_environment("AWS_SESSION_TOKEN");
  }
  if (bucket.key_id.empty() || bucket.secret.empty())
    throw ConfigError{fmt::format(
        "there is no key for the bucket {}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
        "name a file with ?key_file=",
        bucket.name)};
}

}  // namespace

Target parse(std::string_view text) {
  auto address = objects::Address::parse(text);
  address.allow({"key_file", "region", "ca_file"});
  Target target;
  auto& bucket = target.bucket;
  take_region(address, bucket);
  bucket.name = address.name.empty() ? address.host : address.name;
  if (bucket.name.find_first_of(":[]") != std::string::npos)
    throw ConfigError{fmt::format(
        "'{}' has a host and no bucket: write s3://BUCKET or s3://BUCKET@HOST:PORT", address.text)};
  if (address.name.empty()) {
    address.host = fmt::format("s3.{}.amazonaws.com", bucket.region);
    // Certificates are for one more label, and no more.
    if (bucket.name.find('.') == std::string::npos) address.host = bucket.name + "." + address.host;
  }
  if (!address.host.starts_with(bucket.name + ".")) target.place.root = "/" + bucket.name;
  target.place.name = address.text;
  target.place.prefix = address.prefix(0);
  target.server.origin =
      fmt::format("{}://{}", address.scheme == "s3" ? "https" : "http", address.host);
  target.server.ca_file = address.parameter("ca_file");
  take_keys(address, bucket);
  return target;
}

}  // namespace holdfast::s3
