#include <atomic>
#include <condition_variable>
#include <thread>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "results/intake_attempts.hpp"
#include "results/notify_queue.hpp"

namespace holdfast::results {

namespace {

constexpr Millis while_something_is_away{500};
constexpr Millis longest_wait{500};

struct Request {
  std::string id;
  std::string input;
};

Request read_request(Delivery& delivery, std::size_t largest) {
  if (delivery.size() > largest)
    throw InvalidRequest{
        fmt::format("a request of {} bytes; at most {} are allowed", delivery.size(), largest)};
  auto json = parse_json(delivery.body());
  const auto* envelope = json.if_object();
  const auto* id = envelope ? envelope->if_contains("transactionId") : nullptr;
  if (!id || !id->is_string())
    throw InvalidRequest{
        "'transactionId' is missing or is not a text: without it, a request that "
        "is sent twice would be worked on twice"};
  const auto* request = envelope->if_contains("request");
  return {std::string{id->get_string()}, request ? boost::json::serialize(*request) : "null"};
}

}  // namespace

class Intake::Impl {
 public:
  Impl(Engine engine, const Options& options) : engine_{std::move(engine)}, options_{options} {
    if (!options_.broker || options_.intake_queue.empty())
      throw ConfigError{"the intake of requests needs a broker and a queue; name both"};
    options_.broker->declare(options_.intake_queue);
    consumer_ = options_.broker->consume({});
    consumer_->listen(options_.intake_queue);
    thread_ = std::jthread{[this](std::stop_token stop) { work(stop); }};
  }
  ~Impl() {
    thread_.request_stop();
    consumer_->interrupt();
  }

 private:
  void work(std::stop_token stop) {
    while (!stop.stop_requested()) {
      try {
        auto news = consumer_->receive(longest_wait);
        for (const auto& each : news.unreadable) tell_of_queue(each);
        take_all(news.deliveries);
      } catch (const Error& error) {
        engine_.events().emit(StoreTrouble{"taking requests for results", error.what()});
        std::mutex mutex;
        std::unique_lock lock{mutex};
        std::condition_variable_any pause;
        pause.wait_for(lock, stop, while_something_is_away, [] { return false; });
      }
    }
  }

  /// What cannot be taken now, and what came with it, comes again.
  void take_all(std::span<const DeliveryPtr> deliveries) {
    try {
      for (; !deliveries.empty(); deliveries = deliveries.subspan(1)) take(deliveries.front());
    } catch (const Error&) {
      consumer_->give_back(deliveries);
      throw;
    }
  }

  void take(const DeliveryPtr& delivery) {
    const bool suspect = IntakeAttempts::is_suspect(*delivery);
    if (suspect && !attempts_.begin(*delivery))
      return bury(delivery,
                  fmt::format("the process ended {} times while it was taken", attempts_.most));
    try {
      start(*delivery);
    } catch (const InvalidRequest& error) {
      return bury(delivery, error.what());
    } catch (...) {
      // What it needs is away, which is not the fault of the message.
      if (suspect) attempts_.forget(*delivery);
      throw;
    }
    consumer_->acknowledge(std::span{&delivery, 1});
    if (suspect) attempts_.forget(*delivery);
  }

  void start(Delivery& delivery) {
    auto largest = static_cast<std::size_t>(engine_.settings().limits.payload_bytes);
    auto request = read_request(delivery, largest);
    notify_queue_of(request.input, options_);
    start_transaction(engine_, machine_name, request.id, request.input);
  }

  void bury(const DeliveryPtr& delivery, const std::string& why) {
    consumer_->reject(delivery, why);
    // The same may come again, and be good.
    if (IntakeAttempts::is_suspect(*delivery)) attempts_.forget(*delivery);
    engine_.events().emit(
        MessageRejected{{}, machine_name, delivery->queue(), delivery->id(), why});
  }

  void tell_of_queue(const Consumer::Unreadable& news) {
    using enum QueueWatched::Change;
    engine_.events().emit(QueueWatched{
        {}, machine_name, news.queue, news.why.empty() ? readable : unreadable, news.why});
  }

  Engine engine_;
  const IntakeAttempts attempts_{engine_};
  Options options_;
  std::unique_ptr<Consumer> consumer_;
  std::jthread thread_;
};

Intake::Intake(Engine engine, const Options& options)
    : impl_{std::make_unique<Impl>(std::move(engine), options)} {}
Intake::~Intake() = default;

}  // namespace holdfast::results
