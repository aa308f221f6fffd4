#include "http/encryption.hpp"

#include <sodium.h>

#include <array>

#include <fmt/format.h>

#include "http/base64.hpp"
#include "http/json.hpp"

namespace holdfast::http {

namespace {

constexpr std::int64_t format_version = 2;
constexpr std::int64_t signed_version = 1;
constexpr std::size_t nonce_bytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

const std::string& key_named(const Keyring& keyring, const std::string& name) {
  auto at = keyring.keys.find(name);
  if (at == keyring.keys.end())
    throw InvalidRequest{
        fmt::format("the payload is sealed with key '{}', which is not in the keyring", name)};
  return at->second;
}

/// A key for one purpose, made from one of the ring, which also opens what earlier versions
/// encrypted with another cipher. Wiped when it is gone.
class DerivedKey {
 public:
  static constexpr std::size_t size = crypto_aead_xchacha20poly1305_ietf_KEYBYTES;
  enum Purpose : std::uint64_t { encrypts = 2, makes_nonces = 3, signs = 4 };

  DerivedKey(const std::string& key, Purpose purpose) {
    static_assert(crypto_kdf_KEYBYTES == crypto_secretbox_KEYBYTES);
    static_assert(sizeof context == crypto_kdf_CONTEXTBYTES + 1);
    crypto_kdf_derive_from_key(key_.data(), size, purpose, context, bytes_of(key));
  }
  ~DerivedKey() { sodium_memzero(key_.data(), size); }
  DerivedKey(const DerivedKey&) = delete;
  DerivedKey& operator=(const DerivedKey&) = delete;

  const unsigned char* data() const { return key_.data(); }

 private:
  static constexpr char context[] = "holdfast";
  std::array<unsigned char, size> key_{};
};

/// From what is encrypted and for whom, so that it never serves for anything else, and so that the
/// same text for the same owner is the same again: an enqueue whose reply was lost is repeated with
/// the same id and payload.
void make_nonce(unsigned char* nonce, const std::string& key, const std::string& bound_to,
                const std::string& text) {
  const DerivedKey own{key, DerivedKey::makes_nonces};
  crypto_generichash_state state;
  crypto_generichash_init(&state, own.data(), DerivedKey::size, nonce_bytes);
  crypto_generichash_update(&state, bytes_of(bound_to), bound_to.size());
  crypto_generichash_update(&state, bytes_of(text), text.size());
  crypto_generichash_final(&state, nonce, nonce_bytes);
}

/// Each with its length, so that no two owners look the same.
std::string associated_data(const SealedFor& owner, const std::string& key) {
  std::string all;
  const auto part = owner.part == SealedFor::Part::payload ? "payload" : "result";
  for (const std::string& each : {fmt::format("holdfast {}", format_version), key,
                                  owner.task.text(), owner.kind, owner.queue, std::string{part}})
    all += fmt::format("{}:{}", each.size(), each);
  return all;
}

[[noreturn]] void refuse_foreign(std::string_view sealed, const std::string& name,
                                 const SealedFor& owner) {
  throw PayloadRefused{
      fmt::format("this was not {0} with our key '{1}' for task {2} of kind '{3}' in queue '{4}': "
                  "it was copied from another task, changed, or {0} with another key of that name",
                  sealed, name, owner.task.text(), owner.kind, owner.queue)};
}

std::string open_bound(const std::string& sealed, const std::string& name, const std::string& key,
                       const SealedFor& owner) {
  constexpr auto around = nonce_bytes + tag_bytes;
  std::string text(sealed.size() > around ? sealed.size() - around : 0, '\0');
  const auto bound_to = associated_data(owner, name);
  if (!text.empty() && crypto_aead_xchacha20poly1305_ietf_decrypt(
                           bytes_of(text), nullptr, nullptr, bytes_of(sealed) + nonce_bytes,
                           sealed.size() - nonce_bytes, bytes_of(bound_to), bound_to.size(),
                           bytes_of(sealed), DerivedKey{key, DerivedKey::encrypts}.data()) == 0)
    return text;
  refuse_foreign("encrypted", name, owner);
}

/// HMAC-SHA-512-256 over the owner and the text. The lengths in the former keep the two apart.
std::string mac_of(const std::string& text, const std::string& name, const std::string& key,
                   const SealedFor& owner) {
  const DerivedKey own{key, DerivedKey::signs};
  const auto bound_to = associated_data(owner, name);
  crypto_auth_hmacsha512256_state state;
  crypto_auth_hmacsha512256_init(&state, own.data(), DerivedKey::size);
  crypto_auth_hmacsha512256_update(&state, bytes_of(bound_to), bound_to.size());
  crypto_auth_hmacsha512256_update(&state, bytes_of(std::string_view{text}), text.size());
  std::string mac(crypto_auth_hmacsha512256_BYTES, '\0');
  crypto_auth_hmacsha512256_final(&state, bytes_of(mac));
  return mac;
}

/// As versions before 2 encrypted.
std::string open_unbound(const std::string& sealed, const std::string& name,
                         const std::string& key) {
  constexpr auto around = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
  std::string text(sealed.size() > around ? sealed.size() - around : 0, '\0');
  if (!text.empty() &&
      crypto_secretbox_open_easy(bytes_of(text), bytes_of(sealed) + crypto_secretbox_NONCEBYTES,
                                 sealed.size() - crypto_secretbox_NONCEBYTES, bytes_of(sealed),
                                 bytes_of(key)) == 0)
    return text;
  throw PayloadRefused{fmt::format(
      "the payload was not encrypted with the key '{}' that we have, or was changed since", name)};
}

}  // namespace

boost::json::value encrypt(const std::string& text, const SealedFor& owner,
                           const Keyring& keyring) {
  const auto& key = key_named(keyring, keyring.current);
  const auto bound_to = associated_data(owner, keyring.current);
  std::string sealed(nonce_bytes + text.size() + tag_bytes, '\0');
  make_nonce(bytes_of(sealed), key, bound_to, text);
  crypto_aead_xchacha20poly1305_ietf_encrypt(
      bytes_of(sealed) + nonce_bytes, nullptr, bytes_of(text), text.size(), bytes_of(bound_to),
      bound_to.size(), nullptr, bytes_of(sealed), DerivedKey{key, DerivedKey::encrypts}.data());
  return {{"version", format_version}, {"key", keyring.current}, {"value", base64(sealed)}};
}

boost::json::value sign(const std::string& text, const SealedFor& owner, const Keyring& keyring) {
  const auto& key = key_named(keyring, keyring.current);
  return {{"version", signed_version},
          {"key", keyring.current},
          {"mac", base64(mac_of(text, keyring.current, key, owner))},
          {"text", text}};
}

std::string verify(const boost::json::value& signed_text, const SealedFor& owner,
                   const Keyring& keyring) {
  const Reading read{signed_text, "the signed payload"};
  if (const auto version = read.number("version"); version != signed_version)
    throw InvalidRequest{fmt::format(
        "the payload is signed in format {}, which this version of Holdfast does not know",
        version)};
  const auto name = read.text("key");
  auto text = read.text("text");
  const auto wanted = mac_of(text, name, key_named(keyring, name), owner);
  const auto mac = from_base64(read.text("mac")).value_or("");
  if (mac.size() == wanted.size() && sodium_memcmp(mac.data(), wanted.data(), mac.size()) == 0)
    return text;
  refuse_foreign("signed", name, owner);
}

Decrypted decrypt(const boost::json::value& encrypted, const SealedFor& owner,
                  const Keyring& keyring) {
  const Reading read{encrypted, "the encrypted payload"};
  const auto name = read.text("key");
  const auto& key = key_named(keyring, name);
  const auto sealed = from_base64(read.text("value")).value_or("");
  if (!read.find("version")) return {open_unbound(sealed, name, key), true};
  if (const auto version = read.number("version"); version != format_version)
    throw InvalidRequest{fmt::format(
        "the payload is encrypted in format {}, which this version of Holdfast does not know",
        version)};
  return {open_bound(sealed, name, key, owner)};
}

}  // namespace holdfast::http
