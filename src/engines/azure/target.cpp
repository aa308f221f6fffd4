#include "engines/azure/target.hpp"

#include <fmt/format.h>

#include "engines/objects/address.hpp"
#include "http/base64.hpp"

namespace holdfast::azure {

namespace {

constexpr std::string_view in_the_cloud = ".blob.core.windows.net";

/// A file goes before the environment, and both need not be there where the other is.
void take_key(const objects::Address& address, Account& account) {
  auto one_line = [](const std::string& file) {
    auto lines = objects::lines_of(file);
    if (lines.size() != 1)
      throw ConfigError{
          fmt::format("the file {} has to have the key to the blobs on one line", file)};
    return lines.front();
  };
  std::string key;
  if (auto file = address.parameter("key_file"); !file.empty())
    key = one_line(file);
  else if (auto sas = address.parameter("sas_file"); !sas.empty())
    account.signature = one_line(sas);
  else if (key = objects::from_environment("AZURE_STORAGE_KEY"); key.empty())
    account.signature = objects::from_environment("AZURE_STORAGE_SAS_TOKEN");
  if (account.signature.starts_with('?')) account.signature.erase(0, 1);
  auto bytes = http::from_base64(key);
  if (!bytes)
    throw ConfigError{
        fmt::format("the key of the Azure account {} is not in base64", account.name)};
  account.key = *bytes;
  if (account.key.empty() && account.signature.find("sig=") == std::string::npos)
    throw ConfigError{
        fmt::format("there is no key for the Azure account {}: set AZURE_STORAGE_KEY or "
                    "AZURE_STORAGE_SAS_TOKEN, "
                    "or name a file with ?key_file= or ?sas_file=",
                    account.name)};
}

/// The account and the container; returns how many parts of the path they take.
std::size_t take_names(objects::Address& address, Account& account) {
  if (!address.scheme.starts_with("azure")) {
    if (!address.name.empty())
      throw ConfigError{fmt::format(
          "'{}' has a user; an account is named by azure://ACCOUNT@HOST/CONTAINER", address.text)};
    auto label = address.host.substr(0, address.host.find('.'));
    bool in_host = address.host.starts_with(label + ".blob.");
    account.name = in_host ? label : address.path.empty() ? "" : address.path.front();
    return in_host ? 1 : 2;
  }
  if (address.name.empty()) {
    if (address.host.find_first_of(".:") != std::string::npos)
      throw ConfigError{
          fmt::format("'{}' has a host and no account: write azure://ACCOUNT/CONTAINER or "
                      "azure://ACCOUNT@HOST:PORT/CONTAINER",
                      address.text)};
    account.name = std::exchange(address.host, address.host + std::string{in_the_cloud});
    return 1;
  }
  account.name = address.name;
  if (!address.host.starts_with(account.name + "."))
    address.path.insert(address.path.begin(), account.name);
  return address.host.starts_with(account.name + ".") ? 1 : 2;
}

}  // namespace

Target parse(std::string_view text) {
  auto address = objects::Address::parse(text);
  address.allow({"key_file", "sas_file", "ca_file"});
  Target target;
  auto names = take_names(address, target.account);
  if (address.path.size() < names || address.path[names - 1].empty() || target.account.name.empty())
    throw ConfigError{
        fmt::format("'{}' names no container: write azure://ACCOUNT/CONTAINER", address.text)};
  target.account.container = address.path[names - 1];
  for (std::size_t i = 0; i < names; ++i) target.place.root += "/" + address.path[i];
  target.place.name = address.text;
  target.place.prefix = address.prefix(names);
  bool plain = address.scheme == "azure+http" || address.scheme == "http";
  target.server.origin = fmt::format("{}://{}", plain ? "http" : "https", address.host);
  target.server.ca_file = address.parameter("ca_file");
  take_key(address, target.account);
  return target;
}

}  // namespace holdfast::azure
