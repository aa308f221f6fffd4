// A video is transcoded, then published, then its upload is removed: what a task can say about when
// and how it runs, and what a handler can say while it does.

#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>

using namespace std::chrono_literals;

struct Video {
  int number = 0;
};
BOOST_DESCRIBE_STRUCT(Video, (), (number))

void transcode(const Video&, int) {}
std::string reserve_address(const Video& video) {
  return "https://videos.example.org/" + std::to_string(video.number);
}
bool publish_at(const Video&, const std::string&, const std::string&) { return true; }
bool being_watched(const Video&) {
  static int asked = 0;
  return ++asked < 3;
}

holdfast::Outcome on_transcode(const Video& video, holdfast::Attempt& attempt) {
  constexpr int parts = 4;
  for (int part = 1; part <= parts; ++part) {
    if (attempt.stop_requested()) return holdfast::retry("stopped before it was done");
    transcode(video, part);
    attempt.progress(static_cast<double>(part) / parts);
    attempt.log("part " + std::to_string(part) + " is ready");
  }
  return holdfast::done_with(parts);
}

holdfast::Outcome on_publish(const Video& video, holdfast::Attempt& attempt) {
  auto address = attempt.record_once("address", reserve_address(video));
  if (!publish_at(video, address, attempt.idempotency_key()))
    return holdfast::retry_in(30s, "the site is busy");
  attempt.then("remove_upload", video, {.priority = 5, .delay = 200ms});
  return holdfast::done_with(address);
}

holdfast::Outcome on_remove_upload(const Video& video, holdfast::Attempt&) {
  if (video.number < 0) return holdfast::fail("there is no such video");
  if (being_watched(video)) return holdfast::snooze(50ms);
  return holdfast::done;
}

int main() {
  holdfast::Settings settings;
  settings.worker.concurrency = 4;
  auto engine = holdfast::open("sqlite:videos.db", settings);
  holdfast::Tasks tasks{engine};
  tasks.on<Video>("transcode", on_transcode)
      .on<Video>("publish", on_publish)
      .on<Video>("remove_upload", on_remove_upload);

  auto transcoded = tasks.enqueue("transcode", Video{.number = 7},
                                  {.queue = "videos",
                                   .priority = 2,
                                   .max_attempts = 5,
                                   .backoff = {.first = 10s, .longest = 10min},
                                   .timeout = 2h,
                                   .unique_key = "transcode-7",
                                   .tags = {"upload"}});
  auto published = tasks.enqueue("publish", Video{.number = 7}, {.after = {transcoded}});

  holdfast::Inspector inspector{engine, "operator/ada"};
  std::cout << inspector.explain(published) << std::endl;

  holdfast::run(tasks, {.until_empty = true});

  for (const auto& task : inspector.tasks({.states = {holdfast::TaskState::completed}}))
    std::cout << task.kind << " completed " << task.result << std::endl;
  for (const auto& line : inspector.logs(transcoded)) std::cout << line.text << std::endl;
}
