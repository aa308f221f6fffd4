#pragma once

#include "engines/objects/digest.hpp"
#include "engines/objects/request.hpp"

namespace holdfast::objects {

/// Whether the content of a blob is what was written, by what is written beside it: its SHA-256;
/// or, where that was not known in time, its size and the sum that S3 makes of the sums of its
/// parts.
class Verifier {
 public:
  Verifier(const Reply& reply, const std::string& stamp_prefix);
  void add(std::string_view piece);
  bool fits();

 private:
  void end_block();

  std::string sha256_;
  std::string etag_;
  std::string size_;
  std::uint64_t block_ = 0;
  std::uint64_t bytes_ = 0;
  Digest whole_ = Digest::sha256();
  Digest whole_md5_ = Digest::md5();
  Digest part_ = Digest::md5();
  Digest parts_ = Digest::md5();
  std::uint64_t in_part_ = 0;
  int part_count_ = 0;
};

}  // namespace holdfast::objects
