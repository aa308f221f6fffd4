#include "engines/objects/digest.hpp"

#include <array>
#include <new>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace holdfast::objects {

void Digest::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Digest::Digest(const evp_md_st* kind) : kind_{kind}, context_{EVP_MD_CTX_new()} {
  if (!context_ || EVP_DigestInit_ex(context_.get(), kind_, nullptr) != 1) throw std::bad_alloc{};
}

Digest Digest::sha256() { return Digest{EVP_sha256()}; }
Digest Digest::md5() { return Digest{EVP_md5()}; }

Digest& Digest::add(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  return *this;
}

std::string Digest::take() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_.get(), sum.data(), &size);
  EVP_DigestInit_ex(context_.get(), kind_, nullptr);
  return {reinterpret_cast<const char*>(sum.data()), size};
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum.data(), &size);
  return {reinterpret_cast<const char*>(sum.data()), size};
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace holdfast::objects
