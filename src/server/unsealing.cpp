#include "server/unsealing.hpp"

#include <holdfast/error.hpp>

#include "http/blob_trouble.hpp"
#include "http/plain_payload.hpp"

namespace holdfast::server {

namespace {

/// Blobs that do not answer must not take all threads of a store from those who ask for something
/// else.
constexpr int most_reading = 4;
constexpr std::chrono::milliseconds until_there_is_room{1'000};

}  // namespace

std::optional<Outcome> Unsealing::open(Claimed& task, Events& events) {
  if (http::blob_of(task.payload, task.lease.id).empty()) return read(task, events);
  struct Place {
    std::atomic<int>& taken;
    int others = taken++;
    ~Place() { --taken; }
  } const place{reading_};
  if (place.others >= most_reading) return snooze(until_there_is_room);
  return read(task, events);
}

std::optional<Outcome> Unsealing::read(Claimed& task, Events& events) const {
  try {
    const http::SealedFor owner{task.lease.id, task.kind, task.queue};
    task.payload = http::plain_payload(task.payload, owner, payloads_, "this server").text;
    return {};
  } catch (const http::PayloadRefused& error) {
    return hold(error.what());
  } catch (const UnfitPayload& error) {
    return fail(error.what());
  } catch (const BlobError& error) {
    events.emit(StoreTrouble{"reading the payload of a task", error.what()});
    return http::come_again(error);
  }
}

}  // namespace holdfast::server
