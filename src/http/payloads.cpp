#include <holdfast/http/payloads.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sodium.h>
#include <boost/json/serialize.hpp>

#include <holdfast/payload.hpp>

#include "http/encryption.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::http {

namespace {

constexpr std::string_view blob_begins = R"({"$blob":)";
constexpr std::array<std::string_view, 3> sealed_begins{blob_begins, R"({"$encrypted":)",
                                                        R"({"$signed":)"};

const boost::json::value* wrapped(const boost::json::value& json, std::string_view name) {
  const auto* object = json.if_object();
  return object && object->size() == 1 ? object->if_contains(name) : nullptr;
}

/// Reads the blob that a payload names, if it is one of the owner's.
boost::json::value content_of(const std::string& blob, const SealedFor& owner,
                              const PayloadOptions& options) {
  if (!is_blob_of(blob, owner.task, owner.part))
    throw PayloadRefused{
        fmt::format("the payload names blob '{}', which does not belong to task {}", plain(blob),
                    owner.task.text())};
  if (!options.blobs)
    throw InvalidRequest{
        fmt::format("the payload is in blob {}, and no store of blobs was named", blob)};
  const auto content = options.blobs->get(blob);
  if (!content)
    throw InvalidRequest{fmt::format("the payload was in blob {} of {}, which is gone", blob,
                                     options.blobs->name())};
  return parse_json(*content);
}

/// Encrypted or signed; empty without a key.
std::string with_key(const std::string& document, const SealedFor& owner,
                     const PayloadOptions& options) {
  if (options.keyring.current.empty()) return {};
  boost::json::object sealed;
  if (options.sign_only)
    sealed["$signed"] = sign(document, owner, options.keyring);
  else
    sealed["$encrypted"] = encrypt(document, owner, options.keyring);
  return boost::json::serialize(sealed);
}

}  // namespace

void validate(const PayloadOptions& options) {
  if (::sodium_init() < 0) throw ConfigError{"libsodium found no source of randomness"};
  for (const auto& [name, key] : options.keyring.keys)
    if (key.size() != crypto_secretbox_KEYBYTES)
      throw ConfigError{fmt::format("encryption key '{}' has {} bytes; {} are needed", name,
                                    key.size(), crypto_secretbox_KEYBYTES)};
  const auto& current = options.keyring.current;
  if (!current.empty() && !options.keyring.keys.contains(current))
    throw ConfigError{fmt::format(
        "payloads are to be encrypted with key '{}', which is not in the keyring", current)};
  if (!options.sealed_kinds.empty() && options.keyring.keys.empty())
    throw ConfigError{fmt::format("payloads of kind '{}' must be encrypted, and there is no key",
                                  *options.sealed_kinds.begin())};
}

std::string seal(const boost::json::value& document, const SealedFor& owner, const std::string& key,
                 const PayloadOptions& options) {
  return seal_text(boost::json::serialize(document), owner, key, options);
}

std::string seal_text(std::string&& document, const SealedFor& owner, const std::string& key,
                      const PayloadOptions& options) {
  auto sealed = with_key(document, owner, options);
  auto& text = sealed.empty() ? document : sealed;
  if (!options.blobs || text.size() <= options.threshold) return std::move(text);
  if (!is_blob_of(key, owner.task, owner.part))
    throw InvalidRequest{
        fmt::format("'{}' is not the name of a blob of task {}", plain(key), owner.task.text())};
  // One of that name is there if this was tried before, and then it says the same.
  options.blobs->put(key, text);
  return boost::json::serialize(boost::json::value{{"$blob", key}});
}

bool is_sealed(std::string_view payload) {
  return std::ranges::any_of(sealed_begins,
                             [&](auto beginning) { return payload.starts_with(beginning); });
}

bool is_blob_of(std::string_view name, TaskId task, SealedFor::Part part) {
  const auto id = task.text();
  auto rest = name;
  if (part == SealedFor::Part::result) {
    const auto dot = rest.rfind('.');
    if (dot == rest.npos || !TaskId::parse(rest.substr(dot + 1))) return false;
    rest = rest.substr(0, dot);
  }
  if (!rest.ends_with(id)) return false;
  rest.remove_suffix(id.size());
  // What is left is the id of a store, which is letters and digits.
  if (rest.empty()) return true;
  return rest.size() > 1 && rest.find('.') == rest.size() - 1;
}

std::string blob_of(std::string_view payload, TaskId task) {
  if (!payload.starts_with(blob_begins)) return {};
  const auto json = parse_json(payload);
  const auto* key = wrapped(json, "$blob");
  if (!key || !key->is_string()) return {};
  std::string name{key->get_string()};
  return is_blob_of(name, task, SealedFor::Part::payload) ? name : "";
}

Unsealed unseal(std::string_view payload, const SealedFor& owner, const PayloadOptions& options) {
  Unsealed unsealed{parse_json(payload)};
  if (const auto* key = wrapped(unsealed.document, "$blob")) {
    if (!key->is_string()) throw InvalidRequest{"the payload names no blob"};
    unsealed.blob = std::string{key->get_string()};
    unsealed.document = content_of(unsealed.blob, owner, options);
  }
  if (const auto* text = wrapped(unsealed.document, "$signed")) {
    unsealed.authentic = true;
    unsealed.document = parse_json(verify(*text, owner, options.keyring));
    return unsealed;
  }
  const auto* encrypted = wrapped(unsealed.document, "$encrypted");
  expect_sealed(encrypted != nullptr, options);
  if (!encrypted) return unsealed;
  auto decrypted = decrypt(*encrypted, owner, options.keyring);
  if (decrypted.unbound && !options.accept_unbound)
    throw PayloadRefused{
        "the payload was encrypted by an earlier version, which did not bind it to its task; to "
        "read it, start the process without --refuse-unbound and retry the task"};
  unsealed.authentic = true;
  unsealed.unbound = decrypted.unbound;
  unsealed.document = parse_json(decrypted.text);
  return unsealed;
}

void expect_sealed(bool authentic, const PayloadOptions& options) {
  if (authentic || options.keyring.current.empty() || options.accept_plain) return;
  throw PayloadRefused{
      "it is neither encrypted nor signed, and a process that has a payload key accepts no other "
      "requests and answers; if it is from before the key was set, start the process with "
      "--accept-plain "
      "and retry the task"};
}

bool must_be_sealed(std::string_view kind, const PayloadOptions& options) {
  return std::ranges::any_of(options.sealed_kinds, [&](std::string_view wanted) {
    if (!wanted.ends_with('*')) return kind == wanted;
    return kind.starts_with(wanted.substr(0, wanted.size() - 1));
  });
}

}  // namespace holdfast::http
