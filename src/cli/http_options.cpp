#include "cli/http_options.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <holdfast/error.hpp>

#include "cli/blob_options.hpp"
#include "cli/duration.hpp"
#include "cli/secret_files.hpp"
#include "http/base64.hpp"

namespace holdfast::cli {

namespace {

std::pair<std::string, std::string> key_in(const std::string& flag, const std::string& option) {
  auto [name, path] = name_and_value(flag, '=', option);
  auto content = content_of(path);
  if (!content) throw ConfigError{fmt::format("{}: the file {} cannot be read", option, path)};
  return {name, *content};
}

/// 32 bytes, or the same in base64.
std::string payload_key(const std::string& content) {
  constexpr std::size_t size = 32;
  if (content.size() == size) return content;
  auto bytes = http::from_base64(without_line_end(content));
  return bytes ? *bytes : content;
}

}  // namespace

void add_egress_flags(CLI::App& command, EgressFlags& flags, Context& context) {
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
                  "Folder with a file for each secret that headers may name, and a file NAME.bind "
                  "with the hosts that it may be sent to")
      ->type_name("FOLDER");
  command
      .add_option(
          "--signing-key", flags.signing_keys,
          "File with a key that requests are signed with by name, beside FILE.bind with the "
          "hosts that may get them; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
  add_payload_flags(command, flags.payloads, context);
  add_sign_payloads_flag(command, flags.payloads);
  command
      .add_option("--blob-threshold", flags.payloads.threshold,
                  "Keep in blobs what is larger; default: 65536")
      ->check(CLI::Range(0, 1'000'000))
      ->needs("--blobs")
      ->type_name("BYTES");
}

void add_payload_flags(CLI::App& command, PayloadFlags& flags, Context& context) {
  command
      .add_option("--blobs", flags.blobs,
                  "Where large requests and answers are kept: dir:FOLDER, "
                  "azure://ACCOUNT/CONTAINER or s3://BUCKET")
      ->type_name("URL");
  add_blob_mode(command, context, "--blobs");
  command
      .add_option("--payload-key", flags.keys,
                  "File with a key that requests and answers are encrypted with; the first one is "
                  "used, the others are for what is there; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
}

void add_sign_payloads_flag(CLI::App& command, PayloadFlags& flags) {
  command
      .add_flag("--sign-payloads", flags.sign_only,
                "Sign requests and answers with the key instead of encrypting them: they can be "
                "read in the store, but not forged")
      ->needs("--payload-key");
}

void add_refusal_flags(CLI::App& command, PayloadFlags& flags) {
  command
      .add_flag("--accept-plain", flags.accept_plain,
                "Accept requests and answers that are neither encrypted nor signed although there "
                "is a key; for those from before it was set")
      ->needs("--payload-key");
  command
      .add_flag("--refuse-unbound", flags.refuse_unbound,
                "Refuse what earlier versions encrypted, which is not bound to its task")
      ->needs("--payload-key");
}

void add_sealed_kinds_flag(CLI::App& command, PayloadFlags& flags) {
  command
      .add_option(
          "--require-sealed", flags.sealed_kinds,
          "Hold tasks of this kind whose payload is neither encrypted nor signed; KIND* for "
          "all that begin so; repeatable")
      ->allow_extra_args(false)
      ->needs("--payload-key")
      ->type_name("KIND");
}

http::PayloadOptions payloads_of(const PayloadFlags& flags, Context& context) {
  http::PayloadOptions payloads;
  payloads.threshold = flags.threshold;
  payloads.sign_only = flags.sign_only;
  payloads.accept_plain = flags.accept_plain;
  payloads.accept_unbound = !flags.refuse_unbound;
  payloads.sealed_kinds = {flags.sealed_kinds.begin(), flags.sealed_kinds.end()};
  if (!flags.blobs.empty()) payloads.blobs = context.blobs(flags.blobs);
  for (const auto& flag : flags.keys) {
    auto [name, content] = key_in(flag, "--payload-key");
    if (payloads.keyring.current.empty()) payloads.keyring.current = name;
    if (!payloads.keyring.keys.emplace(name, payload_key(content)).second)
      throw ConfigError{fmt::format(
          "--payload-key {} is there twice; a new key needs a new name, because what is "
          "encrypted says by name with which",
          name)};
  }
  validate(payloads);
  return payloads;
}

void apply(const EgressFlags& flags, Context& context, http::ProcessorOptions& options) {
  options.egress = flags.egress;
  if (!flags.secrets_folder.empty() && !std::filesystem::is_directory(flags.secrets_folder))
    throw ConfigError{fmt::format("--secrets {} is not a folder", flags.secrets_folder)};
  options.ca_file = flags.ca_file;
  options.proxy = flags.proxy;
  options.payloads = payloads_of(flags.payloads, context);
  for (const auto& flag : flags.signing_keys) {
    auto [name, content] = key_in(flag, "--signing-key");
    const auto path = name_and_value(flag, '=', "--signing-key").second;
    options.signing_keys[name].push_back({without_line_end(content), binding_beside(path)});
  }
  if (!flags.secrets_folder.empty())
    options.secrets = [folder = flags.secrets_folder](const std::string& name) {
      return secret_in(folder, name);
    };
}

std::vector<std::string> unbound_secrets(const EgressFlags& flags) {
  std::vector<std::string> names;
  if (!flags.secrets_folder.empty()) names = unbound_in(flags.secrets_folder);
  for (const auto& flag : flags.signing_keys) {
    const std::filesystem::path path = name_and_value(flag, '=', "--signing-key").second;
    if (binding_beside(path).hosts.empty()) names.push_back(path.filename().string());
  }
  std::ranges::sort(names);
  const auto again = std::ranges::unique(names);
  names.erase(again.begin(), again.end());
  return names;
}

void set_duration(Millis& value, const std::string& text, const std::string& option) {
  if (!text.empty()) value = parse_duration(text, option);
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
