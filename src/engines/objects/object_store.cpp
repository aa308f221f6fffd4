#include "engines/objects/object_store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <holdfast/ids.hpp>

#include "engines/objects/digest.hpp"
#include "engines/objects/verifier.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::objects {

namespace {

/// S3 takes no more; Azure takes five times as many.
constexpr std::uint64_t most_blocks = 10'000;

std::uint64_t block_for(std::uint64_t bytes) {
  return std::max(usual_block, (bytes / most_blocks / usual_block + 1) * usual_block);
}

/// Fills the buffer, unless the content ends before that.
std::size_t fill(BlobSource& content, std::string& buffer) {
  std::size_t size = 0;
  while (size < buffer.size()) {
    auto some = content.read(std::span{buffer}.subspan(size));
    if (some == 0) break;
    size += some;
  }
  return size;
}

class ObjectStore final : public BlobStore {
 public:
  ObjectStore(Place place, Server server, std::shared_ptr<Service> service)
      : place_{std::move(place)},
        service_{std::move(service)},
        exchange_{std::move(server), service_} {}

  bool put(std::string_view key, std::string_view content) override {
    if (content.size() <= usual_block) return put_whole(path_of(key), content);
    BlobText text{content};
    return put(key, text);
  }

  bool put(std::string_view key, BlobSource& content) override {
    auto path = path_of(key);
    if (content.size() > usual_block) return put_in_blocks(path, content);
    std::string buffer(content.size() + 1, '\0');
    auto size = fill(content, buffer);
    check_size(path, content.size(), size);
    return put_whole(path, std::string_view{buffer}.substr(0, size));
  }

  std::optional<std::string> get(std::string_view key) override {
    std::string content;
    if (!read(key, [&](std::string_view piece) { content += piece; })) return {};
    return content;
  }

  bool read(std::string_view key, const std::function<void(std::string_view)>& piece) override;

  bool remove(std::string_view key) override {
    auto path = path_of(key);
    if (!service_->says_what_it_removed() && !head(path)) return false;
    auto [reply, repeated] = exchange_.send({.method = "DELETE", .path = path});
    auto meaning = service_->meaning(reply);
    if (meaning != Meaning::done && meaning != Meaning::missing)
      fail(*service_, reply, "remove", address(path));
    return meaning == Meaning::done || repeated;
  }

  std::vector<BlobInfo> list(std::string_view prefix) override;

  int remove_unfinished(std::chrono::seconds least_age) override {
    return service_->remove_unfinished(exchange_, place_.prefix, least_age);
  }

  std::string address_of(std::string_view key) const override { return address(path_of(key)); }
  std::string name() const override { return place_.name; }

 private:
  std::string path_of(std::string_view key) const {
    check_blob_key(key);
    return fmt::format("{}/{}{}", place_.root, place_.prefix, key);
  }
  std::string address(const std::string& path) const { return exchange_.server().origin + path; }

  static void check_size(const std::string& path, std::uint64_t wanted, std::uint64_t got) {
    if (wanted != got)
      throw BlobError{fmt::format("{} was to have {} bytes and got {}", path, wanted, got)};
  }

  /// What is known about a blob without reading it; nothing: there is none.
  std::optional<Reply> head(const std::string& path) {
    auto reply = exchange_.send({.method = "HEAD", .path = path}).reply;
    if (service_->meaning(reply) == Meaning::missing) return {};
    if (reply.status != 200) fail(*service_, reply, "look at", address(path));
    return reply;
  }

  /// Whether the blob that is there now was written by this put.
  bool is_ours(const Reply& found, const Stamp& stamp) const {
    return found.header(service_->stamp_prefix() + "put") == stamp.put;
  }
  bool is_ours(const std::string& path, const Stamp& stamp) {
    auto found = head(path);
    return found && is_ours(*found, stamp);
  }

  /// An attempt that was not answered may have been the one that did it.
  bool created(const Reply& reply, const std::string& path, const Stamp& stamp) {
    auto meaning = service_->meaning(reply);
    if (meaning == Meaning::done) {
      kill_point(KillPoint::upload_after_commit);
      return true;
    }
    // Libcurl, too, sends a request again whose connection was closed before the answer, and does
    // not tell.
    if (meaning == Meaning::there_already) return is_ours(path, stamp);
    if (meaning == Meaning::blocks_gone) {
      if (auto found = head(path)) return is_ours(*found, stamp);
      throw BlobError{
          fmt::format("blocks of {} were removed while it was written; try again", address(path))};
    }
    fail(*service_, reply, "write", address(path));
  }

  bool put_whole(const std::string& path, std::string_view content) {
    service_->check(exchange_);
    const Stamp stamp{.put = TaskId::make().text(),
                      .sha256 = hex(Digest::sha256().add(content).take()),
                      .bytes = content.size()};
    kill_point(KillPoint::upload_before_commit);
    return created(exchange_.send(service_->put(path, stamp, content)).reply, path, stamp);
  }

  bool put_in_blocks(const std::string& path, BlobSource& content) {
    service_->check(exchange_);
    if (head(path)) return false;  // what is large is not sent for nothing
    const Stamp stamp{
        .put = TaskId::make().text(), .bytes = content.size(), .block = block_for(content.size())};
    auto upload = service_->upload(exchange_, path, stamp);
    try {
      auto sum = send_blocks(*upload, path, content, stamp);
      kill_point(KillPoint::upload_before_commit);
      bool made = created(upload->finish(sum), path, stamp);
      if (!made) upload->drop();
      return made;
    } catch (const std::exception&) {
      upload->drop();
      throw;
    }
  }

  static std::string send_blocks(Upload& upload, const std::string& path, BlobSource& content,
                                 const Stamp& stamp) {
    auto whole = Digest::sha256();
    std::uint64_t sent = 0;
    std::string buffer(stamp.block, '\0');
    while (auto size = fill(content, buffer)) {
      auto block = std::string_view{buffer}.substr(0, size);
      whole.add(block);
      upload.add(block);
      sent += size;
      kill_point(KillPoint::upload_after_block);
    }
    check_size(path, stamp.bytes, sent);
    return hex(whole.take());
  }

  Place place_;
  std::shared_ptr<Service> service_;
  Exchange exchange_;
};

bool ObjectStore::read(std::string_view key, const std::function<void(std::string_view)>& piece) {
  auto path = path_of(key);
  std::optional<Verifier> verifier;
  std::string etag;
  std::uint64_t got = 0;
  auto begin = [&](const Reply& reply) {
    verifier.emplace(reply, service_->stamp_prefix());
    etag = reply.header("etag");
  };
  auto sink = [&](const Reply& reply, std::string_view some) {
    if (!verifier) begin(reply);
    got += some.size();
    verifier->add(some);
    piece(some);
  };
  Patience patience{exchange_.server()};
  while (true) {
    Request request{.path = path};
    // What was cut off goes on where it ended, if it is still the same blob.
    bool goes_on = got > 0;
    if (goes_on) request.headers = {{"if-match", etag}, {"range", fmt::format("bytes={}-", got)}};
    try {
      auto reply = exchange_.try_once(request, sink);
      if (!verifier && reply.status == 200) begin(reply);
      if (reply.status == (goes_on ? 206 : 200)) break;
      if (!goes_on && service_->meaning(reply) == Meaning::missing) return false;
      if (!passes(reply) || !patience.wait()) fail(*service_, reply, "read", address(path));
    } catch (const NoReply&) {
      if (!patience.wait()) throw;
    }
  }
  if (!verifier->fits())
    throw BlobDamaged{fmt::format("{} is not what was written there", address(path))};
  return true;
}

std::vector<BlobInfo> ObjectStore::list(std::string_view prefix) {
  std::vector<BlobInfo> blobs;
  std::string from;
  do {
    auto reply = exchange_.send(service_->list(place_.prefix + std::string{prefix}, from)).reply;
    if (reply.status != 200) fail(*service_, reply, "list", place_.name);
    auto page = service_->page(reply);
    for (const auto& entry : page.entries) {
      auto key =
          std::string_view{entry.name}.substr(std::min(place_.prefix.size(), entry.name.size()));
      if (is_blob_key(key))
        blobs.push_back({.key = std::string{key},
                         .bytes = entry.bytes,
                         .age = time_of(reply) - entry.changed,
                         .sha256 = entry.sha256.value_or(""),
                         .doubtful = entry.sha256 == ""});
    }
    from = page.next;
  } while (!from.empty());
  std::ranges::sort(blobs, {}, &BlobInfo::key);
  return blobs;
}

}  // namespace

std::shared_ptr<BlobStore> open_object_store(Place place, Server server,
                                             std::shared_ptr<Service> service) {
  return std::make_shared<ObjectStore>(std::move(place), std::move(server), std::move(service));
}

}  // namespace holdfast::objects
