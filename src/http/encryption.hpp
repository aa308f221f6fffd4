#pragma once

#include <string>

#include <boost/json/value.hpp>

#include <holdfast/http/payloads.hpp>

namespace holdfast::http {

/// Encrypts `text` with the current key, bound to its owner: XChaCha20-Poly1305 with the owner as
/// associated data. Returns what the member `$encrypted` has. Safe to use from any thread.
boost::json::value encrypt(const std::string& text, const SealedFor& owner, const Keyring& keyring);

/// Signs `text` with the current key, bound to its owner: HMAC-SHA-512-256. Returns what the member
/// `$signed` has, in which the text stays readable. Safe to use from any thread.
boost::json::value sign(const std::string& text, const SealedFor& owner, const Keyring& keyring);

/// The text that was signed. Throws `InvalidRequest` for a key that is not in the ring, and
/// `PayloadRefused` for a text that was not signed with that key for this owner, or was changed.
std::string verify(const boost::json::value& signed_text, const SealedFor& owner,
                   const Keyring& keyring);

struct Decrypted {
  std::string text;
  bool unbound = false;  ///< in the format of earlier versions, which knows no owner
};
/// Throws `InvalidRequest` for a key that is not in the ring, and `PayloadRefused` for what was not
/// encrypted with that key for this owner, or was changed since.
Decrypted decrypt(const boost::json::value& encrypted, const SealedFor& owner,
                  const Keyring& keyring);

}  // namespace holdfast::http
