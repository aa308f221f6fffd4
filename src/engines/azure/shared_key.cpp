#include "engines/azure/shared_key.hpp"

#include <fmt/format.h>

#include "engines/objects/digest.hpp"
#include "http/base64.hpp"

namespace holdfast::azure {

std::string text_to_sign(const objects::Request& request, const std::string& account) {
  auto header = [&](const char* name) {
    auto at = request.headers.find(name);
    return at == request.headers.end() ? std::string{} : at->second;
  };
  auto text = request.method + "\n";
  text += header("content-encoding") + "\n" + header("content-language") + "\n";
  // No length is written as nothing, not as 0.
  text += (request.body.empty() ? std::string{} : std::to_string(request.body.size())) + "\n";
  // There is no date, because that is in a header of Azure's own.
  for (const char* name : {"content-md5", "content-type", "date", "if-modified-since", "if-match",
                           "if-none-match", "if-unmodified-since", "range"})
    text += header(name) + "\n";
  for (const auto& [name, value] : request.headers)
    if (name.starts_with("x-ms-")) text += fmt::format("{}:{}\n", name, value);
  text += "/" + account + request.path;
  for (const auto& [name, value] : request.query) text += fmt::format("\n{}:{}", name, value);
  return text;
}

std::string shared_key(const objects::Request& request, const std::string& account,
                       const std::string& key) {
  auto sum = objects::hmac_sha256(key, text_to_sign(request, account));
  return fmt::format("SharedKey {}:{}", account, http::base64(sum));
}

}  // namespace holdfast::azure
