#include <algorithm>

#include <fmt/format.h>

#include <holdfast/batches.hpp>

#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/spool.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::server {

namespace {

/// Rows name their files, so a name may be anything; `key` is made by us.
std::pair<std::string, std::string> find_file(const BatchRecord& batch, const Query& query) {
  const auto name = query.find("name"), key = query.find("key");
  if (name.has_value() == key.has_value())
    throw invalid("which file? Give its name, or its key, from output_files of the batch");
  for (const auto& file : batch.output_files)
    if (name ? file.first == *name : file.second == *key) return file;
  throw not_found(
      fmt::format("batch {} has no such output file{}", batch.id.text(),
                  batch.done_at ? "" : "; they are written when it ends, and it has not yet"));
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

/// What a browser saves it as: no folders, no hidden files, nothing that ends a header.
std::string disposition(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' ' || c == 0x7f || c == '/' || c == '\\'; }, '_');
  name.erase(0, std::min(name.find_first_not_of(". "), name.size()));
  if (name.empty()) name = "output";
  std::string simple = name, exact;
  std::ranges::replace_if(
      simple, [](char c) { return !is_plain(c); }, '_');
  for (const char c : name)
    exact += is_plain(c) ? std::string{c} : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return fmt::format(R"(attachment; filename="{}"; filename*=UTF-8''{})", simple, exact);
}

/// All of it is read before the first byte goes out: only then it is known to be undamaged, and a
/// slow caller holds up nobody.
std::shared_ptr<SpooledFile> spooled(const Spool& spool, BlobStore& blobs, const std::string& key) {
  auto file = spool.file();
  const auto add = [&](std::string_view piece) { file->add(piece); };
  try {
    if (blobs.read(key, add)) return file;
  } catch (const BlobDamaged& error) {
    throw Problem{500, "damaged", error.what()};
  } catch (const BlobError& error) {
    throw Problem{503, "store_away", error.what()};
  }
  throw not_found(fmt::format("{} is not in {}", key, blobs.name()));
}

Response output(Service& service, const Spool& spool, const Request& request) {
  request.query.only({"store", "name", "key"});
  const auto id = BatchId::parse(request.place("id"));
  if (!id) throw invalid(fmt::format("'{}' is not the id of a batch", request.place("id")));
  const auto& store = service.store(request);
  if (!store.engine.parts().batch_store())
    throw Problem{400, "unsupported", "this kind of store keeps no batches"};
  const auto batch = Batches{store.engine}.status(*id);
  if (!batch) throw not_found(fmt::format("there is no batch {}", id->text()));
  const auto [name, key] = find_file(*batch, request.query);
  if (!store.output)
    throw Problem{400, "unsupported",
                  "this server was not told where output files are; start it with --output"};
  Response response;
  response.content_type = "application/octet-stream";
  response.headers.emplace_back("Content-Disposition", disposition(name));
  response.file = spooled(spool, *store.output, key);
  return response;
}

}  // namespace

void add_output_routes(Routes& routes, Service& service) {
  auto spool = std::make_shared<Spool>(service.options().folder);
  // For operators, because what is in a file cannot be hidden field by field.
  routes.add({.method = "GET",
              .pattern = "/v1/batches/{id}/output",
              .access = Access::operates,
              .handler = [&service, spool](
                             const Request& request) { return output(service, *spool, request); },
              .audited = true});
}

}  // namespace holdfast::server
