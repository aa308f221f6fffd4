#include "server/static_files.hpp"

#include <map>
#include <mutex>

#include <zlib.h>

#include <holdfast/error.hpp>

#include "server/problem.hpp"
#include "server/service.hpp"

namespace holdfast::server {

#ifdef HOLDFAST_DASHBOARD
std::span<const EmbeddedFile> dashboard_files();
#else
namespace {
std::span<const EmbeddedFile> dashboard_files() { return {}; }
}  // namespace
#endif

namespace {

/// The pages of the dashboard have paths of their own, for which its program is the same file.
const EmbeddedFile* find_page(std::string_view path) {
  const auto files = dashboard_files();
  for (const auto& file : files)
    if (file.path == path) return &file;
  const bool page = !path.starts_with("/assets/") && path.find('.') == path.npos;
  for (const auto& file : files)
    if (page && file.path == "/index.html") return &file;
  return nullptr;
}

/// However many ask for it, and read it or not, it is in memory once.
std::string_view unzipped_once(std::string_view gzipped) {
  static std::mutex mutex;
  static std::map<const char*, std::string> kept;
  std::lock_guard lock{mutex};
  const auto [place, is_new] = kept.try_emplace(gzipped.data());
  if (is_new) place->second = unzipped(gzipped);
  return place->second;
}

Response page(const Request& request) {
  if (request.path.starts_with("/v1/"))
    throw not_found("there is nothing at " + request.path + "; /v1/openapi.json has all there is");
  const auto* file = find_page(request.path);
  if (file) return serve_file(request, *file);
  if (request.path != "/") throw not_found("there is no such page");
  Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.body =
      "This holdfast was built without its dashboard. The API is at /v1; docs/api.md tells how to "
      "use it.\n";
  return response;
}

}  // namespace

Response serve_file(const Request& request, const EmbeddedFile& file) {
  Response response;
  response.content_type = file.content_type;
  response.headers = {{"ETag", std::string{file.etag}}, {"Vary", "Accept-Encoding"}};
  // What is named after its content can be kept for ever; other files are asked for again.
  const bool for_ever = file.path.starts_with("/assets/");
  response.headers.emplace_back("Cache-Control",
                                for_ever ? "public, max-age=31536000, immutable" : "no-cache");
  if (request.header("if-none-match") == file.etag) {
    response.status = 304;
    return response;
  }
  if (request.header("accept-encoding").find("gzip") != std::string_view::npos) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.fixed = file.gzipped;
  } else {
    response.fixed = unzipped_once(file.gzipped);
  }
  return response;
}

std::string unzipped(std::string_view gzipped) {
  constexpr int gzip = 15 + 16;
  z_stream stream{};
  if (inflateInit2(&stream, gzip) != Z_OK) throw Error{"zlib would not start"};
  std::string in{gzipped}, out;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  int done = Z_OK;
  char part[16'384];
  while (done == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part);
    stream.avail_out = sizeof part;
    done = inflate(&stream, Z_NO_FLUSH);
    out.append(part, sizeof part - stream.avail_out);
  }
  inflateEnd(&stream);
  if (done != Z_STREAM_END) throw Error{"an embedded file cannot be unpacked"};
  return out;
}

void add_page_routes(Routes& routes) {
  for (const auto* path : {"/", "/{page}", "/{page}/{part}"})
    routes.add({.method = "GET",
                .pattern = path,
                .access = Access::everybody,
                .handler = page,
                .asks = Asks::server});
}

}  // namespace holdfast::server
