#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;
struct evp_md_st;

namespace holdfast::objects {

/// A checksum of what is added to it, as bytes.
class Digest {
 public:
  static Digest sha256();
  static Digest md5();  ///< no secret: it is what the services compare with
  Digest& add(std::string_view bytes);
  /// Ends it; the next bytes belong to the next one.
  std::string take();

 private:
  explicit Digest(const evp_md_st* kind);
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  const evp_md_st* kind_;
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string hmac_sha256(std::string_view key, std::string_view text);
std::string hex(std::string_view bytes);

}  // namespace holdfast::objects
