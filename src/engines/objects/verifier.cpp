#include "engines/objects/verifier.hpp"

#include <charconv>

#include <fmt/format.h>

namespace holdfast::objects {

Verifier::Verifier(const Reply& reply, const std::string& stamp_prefix)
    : sha256_{reply.header(stamp_prefix + "sha256")}, size_{reply.header(stamp_prefix + "bytes")} {
  if (!sha256_.empty()) return;
  auto block = reply.header(stamp_prefix + "block");
  std::from_chars(block.data(), block.data() + block.size(), block_);
  // With a key of its own, the service makes no sums of what it was given.
  auto encryption = reply.header("x-amz-server-side-encryption");
  if (!encryption.starts_with("aws:kms") &&
      reply.header("x-amz-server-side-encryption-customer-algorithm").empty())
    etag_ = reply.header("etag");
}

void Verifier::end_block() {
  parts_.add(part_.take());
  in_part_ = 0;
  ++part_count_;
}

void Verifier::add(std::string_view piece) {
  bytes_ += piece.size();
  if (!sha256_.empty()) {
    whole_.add(piece);
    return;
  }
  whole_md5_.add(piece);
  while (block_ > 0 && !piece.empty()) {
    auto some = piece.substr(0, block_ - in_part_);
    part_.add(some);
    in_part_ += some.size();
    piece.remove_prefix(some.size());
    if (in_part_ == block_) end_block();
  }
}

bool Verifier::fits() {
  if (std::to_string(bytes_) != size_) return false;
  if (!sha256_.empty()) return hex(whole_.take()) == sha256_;
  if (block_ == 0) return false;  // not written by us
  if (etag_.empty()) return true;
  if (etag_.find('-') == std::string::npos)
    return etag_ == fmt::format("\"{}\"", hex(whole_md5_.take()));
  if (in_part_ > 0) end_block();
  return etag_ == fmt::format("\"{}-{}\"", hex(parts_.take()), part_count_);
}

}  // namespace holdfast::objects
