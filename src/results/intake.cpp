#include <atomic>
#include <condition_variable>
#include <thread>

#include <fmt/format.h>
#include <boost/json.hpp>

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
        for (const auto& [queue, why] : news.unreadable)
          if (!why.empty())
            engine_.events().emit(StoreTrouble{fmt::format("reading queue '{}'", queue), why});
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
    try {
      auto largest = static_cast<std::size_t>(engine_.settings().limits.payload_bytes);
      auto request = read_request(*delivery, largest);
      notify_queue_of(request.input, options_);
      start_transaction(engine_, machine_name, request.id, request.input);
    } catch (const InvalidRequest& error) {
      consumer_->reject(delivery, error.what());
      return engine_.events().emit(
          TransactionNoted{delivery->id(), machine_name,
                           fmt::format("message '{}' of queue '{}' is a dead letter: {}",
                                       delivery->id(), delivery->queue(), error.what()),
                           true});
    }
    consumer_->acknowledge(std::span{&delivery, 1});
  }

  Engine engine_;
  Options options_;
  std::unique_ptr<Consumer> consumer_;
  std::jthread thread_;
};

Intake::Intake(Engine engine, const Options& options)
    : impl_{std::make_unique<Impl>(std::move(engine), options)} {}
Intake::~Intake() = default;

}  // namespace holdfast::results
