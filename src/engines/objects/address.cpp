#include "engines/objects/address.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holdfast/blobs.hpp>

namespace holdfast::objects {

namespace {

std::string_view cut(std::string_view& text, char at) {
  auto end = std::min(text.find(at), text.size());
  auto head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

bool is_host(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{".-:[]_"}.find(c) != std::string_view::npos;
  });
}

}  // namespace

Address Address::parse(std::string_view text) {
  Address address{.text = std::string{text}, .scheme = {}, .host = {}};
  auto colon = text.find("://");
  address.scheme = text.substr(0, colon);
  auto rest = text.substr(std::min(text.size(), colon + 3));
  auto before_query = cut(rest, '?');
  while (!rest.empty()) {
    auto value = cut(rest, '&');
    std::string name{cut(value, '=')};
    if (name == "sig" || name == "sv")
      throw ConfigError{
          "a shared access signature is a secret, and everybody can see the address: put it into "
          "AZURE_STORAGE_SAS_TOKEN, or into a file that sas_file= names"};
    address.parameters[name] = value;
  }
  auto authority = cut(before_query, '/');
  if (auto at = authority.find('@'); at != authority.npos) address.name = cut(authority, '@');
  if (address.name.find(':') != std::string::npos)
    throw ConfigError{
        "there is a password in the address of the blobs, which everybody can see there: put it "
        "into the environment, or into a file that key_file= names"};
  address.host = authority;
  while (!before_query.empty()) address.path.emplace_back(cut(before_query, '/'));
  if (!is_host(address.host) || (!address.name.empty() && !is_host(address.name)))
    throw ConfigError{fmt::format("'{}' names no host", address.text)};
  return address;
}

void Address::allow(const std::vector<std::string>& names) const {
  for (const auto& [given, value] : parameters)
    if (std::ranges::find(names, given) == names.end())
      throw ConfigError{
          fmt::format("unknown parameter '{}' in the address of the blobs; allowed: {}", given,
                      fmt::join(names, ", "))};
}

std::string Address::parameter(const std::string& wanted) const {
  auto at = parameters.find(wanted);
  return at == parameters.end() ? std::string{} : at->second;
}

std::string Address::prefix(std::size_t first) const {
  if (path.size() <= first) return {};
  auto joined = fmt::format(
      "{}", fmt::join(path.begin() + static_cast<std::ptrdiff_t>(first), path.end(), "/"));
  if (!is_blob_key(joined))
    throw ConfigError{fmt::format(
        "'{}' cannot be a folder of blobs: write letters, digits, '-', '_' and '.', and "
        "no dot in front",
        joined)};
  return joined + "/";
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in{file};
  if (!in)
    throw ConfigError{fmt::format("the file {} with the key to the blobs cannot be read", file)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace holdfast::objects
