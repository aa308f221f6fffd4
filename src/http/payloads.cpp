#include <holdfast/http/payloads.hpp>

#include <fmt/format.h>
#include <sodium.h>
#include <boost/json/serialize.hpp>

#include <holdfast/payload.hpp>

#include "http/base64.hpp"
#include "http/json.hpp"

namespace holdfast::http {

namespace {

constexpr std::string_view blob_begins = R"({"$blob":)";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

const std::string& key_named(const Keyring& keyring, const std::string& name) {
  auto at = keyring.keys.find(name);
  if (at == keyring.keys.end())
    throw InvalidRequest{
        fmt::format("the payload is encrypted with key '{}', which is not in the keyring", name)};
  return at->second;
}

std::string encrypt(const std::string& text, const Keyring& keyring) {
  std::string sealed(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + text.size(), '\0');
  randombytes_buf(sealed.data(), crypto_secretbox_NONCEBYTES);
  crypto_secretbox_easy(bytes_of(sealed) + crypto_secretbox_NONCEBYTES, bytes_of(text), text.size(),
                        bytes_of(sealed), bytes_of(key_named(keyring, keyring.current)));
  return boost::json::serialize(
      boost::json::value{{"$encrypted", {{"key", keyring.current}, {"value", base64(sealed)}}}});
}

std::string decrypt(const boost::json::value& json, const Keyring& keyring) {
  Reading read{json, "the encrypted payload"};
  auto sealed = from_base64(read.text("value"));
  const auto& key = key_named(keyring, read.text("key"));
  constexpr auto around = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
  std::string text(sealed && sealed->size() > around ? sealed->size() - around : 0, '\0');
  bool good = !text.empty() && crypto_secretbox_open_easy(
                                   bytes_of(text), bytes_of(*sealed) + crypto_secretbox_NONCEBYTES,
                                   sealed->size() - crypto_secretbox_NONCEBYTES, bytes_of(*sealed),
                                   bytes_of(key)) == 0;
  if (!good)
    throw InvalidRequest{
        fmt::format("the payload was not encrypted with the key '{}' that we have, or was changed "
                    "since",
                    read.text("key"))};
  return text;
}

const boost::json::value* wrapped(const boost::json::value& json, std::string_view name) {
  const auto* object = json.if_object();
  return object && object->size() == 1 ? object->if_contains(name) : nullptr;
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
}

std::string seal(const boost::json::value& document, const std::string& key,
                 const PayloadOptions& options) {
  return seal_text(boost::json::serialize(document), key, options);
}

std::string seal_text(std::string&& document, const std::string& key,
                      const PayloadOptions& options) {
  const bool secret = !options.keyring.current.empty();
  auto encrypted = secret ? encrypt(document, options.keyring) : std::string{};
  auto& text = secret ? encrypted : document;
  if (!options.blobs || text.size() <= options.threshold) return std::move(text);
  // One of that name is there if this was tried before, and then it says the same.
  options.blobs->put(key, text);
  return boost::json::serialize(boost::json::value{{"$blob", key}});
}

bool is_sealed(std::string_view payload) {
  return payload.starts_with(blob_begins) || payload.starts_with(R"({"$encrypted":)");
}

std::string blob_of(std::string_view payload) {
  if (!payload.starts_with(blob_begins)) return {};
  const auto json = parse_json(payload);
  const auto* key = wrapped(json, "$blob");
  return key && key->is_string() ? std::string{key->get_string()} : "";
}

Unsealed unseal(std::string_view payload, const PayloadOptions& options) {
  Unsealed unsealed{parse_json(payload)};
  if (const auto* key = wrapped(unsealed.document, "$blob")) {
    if (!key->is_string()) throw InvalidRequest{"the payload names no blob"};
    unsealed.blob = std::string{key->get_string()};
    if (!options.blobs)
      throw InvalidRequest{
          fmt::format("the payload is in blob {}, and no store of blobs was named", unsealed.blob)};
    auto content = options.blobs->get(unsealed.blob);
    if (!content)
      throw InvalidRequest{fmt::format("the payload was in blob {} of {}, which is gone",
                                       unsealed.blob, options.blobs->name())};
    unsealed.document = parse_json(*content);
  }
  if (const auto* encrypted = wrapped(unsealed.document, "$encrypted"))
    unsealed.document = parse_json(decrypt(*encrypted, options.keyring));
  return unsealed;
}

}  // namespace holdfast::http
