#include "engines/sidekiq/body.hpp"

#include <iconv.h>

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/base64.hpp"
#include "http/compression.hpp"
#include "http/headers.hpp"
#include "http/json.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::sidekiq {

namespace {

constexpr std::size_t worth_compressing = 4'096;
constexpr std::size_t most_bytes = 64u << 20;

/// In the words of the gem, which looks at the type as it came.
bool is_text(std::string_view type) {
  if (type.starts_with("text/")) return true;
  for (std::string_view name : {"application/json", "application/xml", "application/javascript"})
    if (type.find(name) != std::string_view::npos) return true;
  return false;
}

std::string charset_of(std::string_view type) {
  auto lowered = http::lower(type);
  auto at = lowered.find("charset=");
  if (at == std::string::npos) return {};
  auto name = lowered.substr(at + 8);
  name = name.substr(0, name.find_first_of("; \t"));
  std::erase(name, '"');
  return name;
}

std::optional<std::string> convert(std::string_view bytes, const std::string& from,
                                   const std::string& to) {
  auto* converter = ::iconv_open(to.c_str(), from.c_str());
  if (converter == reinterpret_cast<iconv_t>(-1)) return {};
  std::unique_ptr<void, int (*)(void*)> closing{converter, &::iconv_close};
  std::string result(bytes.size() * 4 + 16, '\0');
  auto* in = const_cast<char*>(bytes.data());
  auto in_left = bytes.size();
  auto* out = result.data();
  auto out_left = result.size();
  if (::iconv(converter, &in, &in_left, &out, &out_left) == static_cast<std::size_t>(-1)) return {};
  result.resize(result.size() - out_left);
  return result;
}

boost::json::value body_object(std::string_view encoding, std::string_view value,
                               std::string_view charset) {
  return {{"encoding", encoding}, {"value", value}, {"charset", charset}};
}

bool is_ascii(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 128; });
}

}  // namespace

boost::json::value bytes_body(std::string_view bytes) {
  return body_object("binary", http::base64(bytes), "ASCII-8BIT");
}

boost::json::value encode_body(std::string_view bytes, std::string_view content_type,
                               const Dialect& dialect) {
  if (!is_text(content_type)) return bytes_body(bytes);
  auto charset = charset_of(content_type);
  std::optional<std::string> text;
  std::string_view said = "UTF-8";
  if (is_ascii(bytes)) {
    text = bytes;
  } else if (!charset.empty()) {
    text = convert(bytes, charset, "UTF-8");
  } else if (is_utf8(bytes)) {
    text = bytes;
    said = "ASCII-8BIT";
  }
  if (!text || !is_utf8(*text)) return bytes_body(bytes);
  if (text->size() >= worth_compressing) {
    auto packed = http::base64(http::compress(*text, dialect.gzip));
    if (packed.size() < text->size()) return body_object("gzipped", packed, said);
  }
  return body_object("text", *text, said);
}

std::string decode_body(const boost::json::value& body) {
  if (body.is_null()) return {};
  if (body.is_string()) return std::string{body.get_string()};
  http::Reading read{body, "the body"};
  auto encoding = read.text("encoding");
  auto value = read.text("value");
  if (encoding != "text") {
    auto bytes = http::from_base64(value);
    if (!bytes) read.refuse("value", "valid base64");
    value = std::move(*bytes);
  }
  if (encoding == "gzipped") {
    auto plain = http::decompress(value, most_bytes);
    if (!plain) read.refuse("value", "compressed as gzip or zlib, or it is too large");
    value = std::move(*plain);
  } else if (encoding != "text" && encoding != "binary") {
    read.refuse("encoding", "text, gzipped or binary");
  }
  // The text in JSON is UTF-8 whatever it was before.
  auto charset = http::lower(read.text("charset"));
  bool same = charset.empty() || charset == "utf-8" || charset == "ascii-8bit" ||
              charset == "us-ascii" || encoding == "binary";
  if (same) return value;
  auto converted = convert(value, "UTF-8", charset);
  return converted ? *converted : value;
}

}  // namespace holdfast::sidekiq
