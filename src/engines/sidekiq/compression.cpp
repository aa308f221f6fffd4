#include "engines/sidekiq/compression.hpp"

#include <array>
#include <new>

#include <zlib.h>

namespace holdfast::sidekiq {

namespace {

constexpr int window = 15;
constexpr int as_gzip = 16;
constexpr int either = 32;

Bytef* bytes_of(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

std::string compress(std::string_view bytes, bool gzip) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip ? window + as_gzip : window,
                     8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc{};
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = bytes_of(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = bytes_of(packed);
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

std::optional<std::string> decompress(std::string_view bytes, std::size_t most) {
  z_stream stream{};
  if (::inflateInit2(&stream, window + either) != Z_OK) throw std::bad_alloc{};
  stream.next_in = bytes_of(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string plain;
  std::array<char, 16'384> piece;
  int state = Z_OK;
  while (state == Z_OK && plain.size() <= most) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    state = ::inflate(&stream, Z_NO_FLUSH);
    plain.append(piece.data(), piece.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  if (state != Z_STREAM_END || plain.size() > most) return {};
  return plain;
}

}  // namespace holdfast::sidekiq
