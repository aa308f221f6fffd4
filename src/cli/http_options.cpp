#include "cli/http_options.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <holdfast/error.hpp>

namespace holdfast::cli {

namespace {

/// One file for each secret, as systemd hands out credentials. A name must not lead elsewhere.
std::optional<std::string> secret_in(const std::string& folder, const std::string& name) {
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos) return {};
  std::ifstream file{std::filesystem::path{folder} / name};
  if (!file) return {};
  std::ostringstream content;
  content << file.rdbuf();
  auto secret = content.str();
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  return secret;
}

}  // namespace

void add_egress_flags(CLI::App& command, EgressFlags& flags) {
  command.add_flag("--allow-private", flags.egress.allow_private,
                   "Connect to private addresses and this host, too; for tests and intranets");
  command
      .add_option("--allow", flags.egress.allow,
                  "Connect to this network (10.1.0.0/16) or host, too; repeatable")
      ->allow_extra_args(false)
      ->type_name("NETWORK");
  command.add_option("--proxy", flags.proxy, "Connect through this proxy (http:// or https://)")
      ->type_name("URL");
  command.add_option("--ca-file", flags.ca_file, "Certificates to trust; default: the system's")
      ->type_name("FILE");
  command
      .add_option("--secrets", flags.secrets_folder,
                  "Folder with a file for each secret that headers may name")
      ->type_name("FOLDER");
  command
      .add_option("--blobs", flags.blobs, "Where large requests and answers are kept: dir:FOLDER")
      ->type_name("URL");
}

void apply(const EgressFlags& flags, http::ProcessorOptions& options) {
  options.egress = flags.egress;
  options.ca_file = flags.ca_file;
  options.proxy = flags.proxy;
  if (!flags.blobs.empty()) options.payloads.blobs = open_blobs(flags.blobs);
  if (!flags.secrets_folder.empty())
    options.secrets = [folder = flags.secrets_folder](const std::string& name) {
      return secret_in(folder, name);
    };
}

std::pair<std::string, std::string> name_and_value(const std::string& text, char between,
                                                   const std::string& option) {
  auto at = text.find(between);
  if (at == std::string::npos || at == 0)
    throw InvalidRequest{
        fmt::format("{} '{}' is not of the form NAME{}VALUE", option, text, between)};
  auto value = text.substr(at + 1);
  if (between == ':') value.erase(0, value.find_first_not_of(' '));
  return {text.substr(0, at), value};
}

}  // namespace holdfast::cli
