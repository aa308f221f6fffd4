#include "http/compression.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

#include <brotli/decode.h>
#include <zlib.h>

#include "http/headers.hpp"

namespace holdfast::http {

namespace {

using Decoded = std::variant<std::string, Undecodable>;

constexpr int window = 15;
constexpr int as_gzip = 16;
constexpr int either = 32;
constexpr std::size_t piece_size = 16'384;

Bytef* zlib_bytes(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

/// `bits` is zlib's way to say what it is: positive with a head, negative without.
Decoded inflate(std::string_view bytes, int bits, std::size_t most) {
  z_stream stream{};
  if (::inflateInit2(&stream, bits) != Z_OK) throw std::bad_alloc{};
  const std::unique_ptr<z_stream, decltype(&::inflateEnd)> ended{&stream, &::inflateEnd};
  stream.next_in = zlib_bytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string plain;
  std::array<char, piece_size> piece;
  int state = Z_OK;
  while (state == Z_OK && plain.size() <= most) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    state = ::inflate(&stream, Z_NO_FLUSH);
    plain.append(piece.data(), piece.size() - stream.avail_out);
    // A file of gzip may be several, one after the other.
    const bool another = state == Z_STREAM_END && stream.avail_in > 1 &&
                         stream.next_in[0] == 0x1f && stream.next_in[1] == 0x8b;
    if (another) state = ::inflateReset(&stream);
  }
  if (plain.size() > most) return Undecodable::too_large;
  if (state != Z_STREAM_END) return Undecodable::damaged;
  return plain;
}

/// By its standard a zlib stream; some servers leave away its head.
Decoded undo_deflate(std::string_view bytes, std::size_t most) {
  auto plain = inflate(bytes, window, most);
  return plain == Decoded{Undecodable::damaged} ? inflate(bytes, -window, most) : plain;
}

Decoded undo_brotli(std::string_view bytes, std::size_t most) {
  const std::unique_ptr<BrotliDecoderState, decltype(&BrotliDecoderDestroyInstance)> state{
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), &BrotliDecoderDestroyInstance};
  if (!state) throw std::bad_alloc{};
  const std::uint8_t* in = zlib_bytes(bytes);
  std::size_t left = bytes.size();
  std::string plain;
  std::array<std::uint8_t, piece_size> piece;
  auto result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
  while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && plain.size() <= most) {
    std::uint8_t* out = piece.data();
    std::size_t room = piece.size();
    result = BrotliDecoderDecompressStream(state.get(), &left, &in, &room, &out, nullptr);
    plain.append(piece.begin(), piece.end() - static_cast<std::ptrdiff_t>(room));
  }
  if (plain.size() > most) return Undecodable::too_large;
  if (result != BROTLI_DECODER_RESULT_SUCCESS) return Undecodable::damaged;
  return plain;
}

using Undo = Decoded (*)(std::string_view bytes, std::size_t most);

/// In the order in which a server did it. Empty: there is one that is not known.
std::vector<Undo> steps_of(std::string_view codings) {
  std::vector<Undo> steps;
  while (!codings.empty()) {
    auto comma = std::min(codings.find(','), codings.size());
    auto coding = lower(trimmed(codings.substr(0, comma)));
    codings.remove_prefix(std::min(comma + 1, codings.size()));
    if (coding == "gzip" || coding == "x-gzip")
      steps.push_back([](std::string_view bytes, std::size_t most) {
        return inflate(bytes, window + as_gzip, most);
      });
    else if (coding == "deflate")
      steps.push_back(&undo_deflate);
    else if (coding == "br")
      steps.push_back(&undo_brotli);
    else if (coding != "identity" && !coding.empty())
      return {};
  }
  return steps;
}

}  // namespace

std::string compress(std::string_view bytes, bool gzip) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip ? window + as_gzip : window,
                     8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc{};
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = zlib_bytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = zlib_bytes(packed);
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

std::optional<std::string> decompress(std::string_view bytes, std::size_t most) {
  auto plain = inflate(bytes, window + either, most);
  if (auto* text = std::get_if<std::string>(&plain)) return std::move(*text);
  return {};
}

std::optional<Decoded> decode(std::string_view bytes, std::string_view codings, std::size_t most) {
  // Nobody sends more of them, unless to make us work.
  constexpr std::size_t most_steps = 5;
  auto steps = steps_of(codings);
  if (steps.empty() || bytes.empty()) return {};
  if (steps.size() > most_steps) return Undecodable::damaged;
  Decoded plain{std::string{bytes}};
  while (!steps.empty()) {
    if (!std::holds_alternative<std::string>(plain)) break;
    const auto packed = std::get<std::string>(std::move(plain));
    plain = steps.back()(packed, most);
    steps.pop_back();
  }
  return plain;
}

}  // namespace holdfast::http
