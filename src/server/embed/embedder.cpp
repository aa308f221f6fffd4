// Writes the files of a folder as C++: holdfast_embedder NAME FOLDER OUTPUT.cpp

#include <sodium.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace fs = std::filesystem;

namespace {

std::string content_type(const fs::path& path) {
  static const std::map<std::string, std::string> types = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".txt", "text/plain; charset=utf-8"},
      {".woff2", "font/woff2"},
      {".webmanifest", "application/manifest+json"}};
  const auto found = types.find(path.extension());
  if (found == types.end())
    throw std::runtime_error{fmt::format(
        "{}: no content type is known for '{}'; name it in src/server/embed/embedder.cpp",
        path.string(), path.extension().string())};
  return found->second;
}

std::string read(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::string content{std::istreambuf_iterator<char>{file}, {}};
  if (!file) throw std::runtime_error{fmt::format("{} cannot be read", path.string())};
  return content;
}

std::string gzipped(const std::string& content) {
  constexpr int gzip = 15 + 16;
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, gzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error{"zlib would not start"};
  std::string out(deflateBound(&stream, content.size()) + 32, '\0');
  std::string in = content;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) throw std::runtime_error{"zlib would not finish"};
  return out;
}

/// Short, because it only has to differ between versions of one file.
std::string etag(const std::string& content) {
  unsigned char hash[16];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char*>(content.data()),
                     content.size(), nullptr, 0);
  std::string text;
  for (const unsigned char byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

/// As literals of a line each. Octal, because a hexadecimal escape swallows digits that follow.
std::string literal(std::string_view bytes) {
  constexpr std::size_t in_a_line = 24;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += in_a_line) {
    text += "\n    \"";
    for (const char byte : bytes.substr(at, in_a_line))
      text += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
    text += '"';
  }
  return text.empty() ? "\"\"" : text;
}

std::string source(const std::string& name, const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw std::runtime_error{fmt::format("there are no files in {}", folder.string())};
  std::string text =
      "#include \"server/embedded.hpp\"\n\nnamespace holdfast::server {\n"
      "using namespace std::string_view_literals;\n\n"
      "static constexpr EmbeddedFile files[] = {\n";
  for (const auto& file : files) {
    const std::string content = read(file);
    text += fmt::format("  {{\"/{}\"sv, \"{}\"sv, {}sv,\n   \"\\\"{}\\\"\"sv}},\n",
                        fs::relative(file, folder).generic_string(), content_type(file),
                        literal(gzipped(content)), etag(content));
  }
  return text + fmt::format(
                    "}};\n\nstd::span<const EmbeddedFile> {0}_files();\n"
                    "std::span<const EmbeddedFile> {0}_files() {{ return files; }}\n\n"
                    "}}  // namespace holdfast::server\n",
                    name);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw std::runtime_error{"usage: holdfast_embedder NAME FOLDER OUTPUT.cpp"};
    if (sodium_init() < 0) throw std::runtime_error{"libsodium would not start"};
    std::ofstream out{argv[3], std::ios::binary | std::ios::trunc};
    out << source(argv[1], argv[2]);
    out.close();
    if (!out) throw std::runtime_error{fmt::format("{} cannot be written", argv[3])};
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "holdfast_embedder: {}\n", error.what());
    return 1;
  }
}
