#include "engines/rabbitmq/trial.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engines/rabbitmq/properties.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::rabbitmq {

namespace {

constexpr Millis a_moment{100};  ///< after which it is seen that we are to stop
constexpr const char* consumer_tag = "holdfast-trial";

}  // namespace

class Trial::Round {
 public:
  Round(Connection& connection, std::span<const std::string> queues, std::vector<bool>& open)
      : connection_{connection}, queues_{queues}, open_{open}, attempts_(queues.size()) {}

  void begin() {
    for (std::size_t i = 0; i < queues_.size(); ++i) ask(i, queues_[i]);
  }

  bool over() const { return std::ranges::all_of(attempts_, &Attempt::over); }

  void take(const amqp_frame_t& frame) {
    if (frame.frame_type == AMQP_FRAME_HEADER) return take_header(frame);
    if (frame.frame_type != AMQP_FRAME_METHOD) return;  // bodies are not kept
    const auto& method = frame.payload.method;
    if (method.id == AMQP_CONNECTION_CLOSE_METHOD) connection_.check_close(frame);
    if (frame.channel == 0 || frame.channel > attempts_.size()) return;
    auto& attempt = attempts_[frame.channel - 1];
    if (method.id == AMQP_BASIC_CONSUME_OK_METHOD) {
      attempt.verdict.kind = Verdict::Kind::well;
      wait_for_channel(frame.channel);
    } else if (method.id == AMQP_BASIC_DELIVER_METHOD) {
      const auto& deliver = *static_cast<amqp_basic_deliver_t*>(method.decoded);
      attempt.verdict.gave_back = deliver.redelivered != 0 ? 2 : 1;
      attempt.delivered = deliver.delivery_tag;
      if (attempt.cancelled) give_back(attempt, frame.channel);
    } else if (method.id == AMQP_BASIC_QOS_OK_METHOD && !attempt.cancelled) {
      amqp_basic_cancel_t cancel{};
      cancel.consumer_tag = bytes_of(consumer_tag);
      connection_.send(frame.channel, AMQP_BASIC_CANCEL_METHOD, &cancel);
    } else if (method.id == AMQP_BASIC_CANCEL_OK_METHOD) {
      attempt.cancelled = true;
      give_back(attempt, frame.channel);
      wait_for_channel(frame.channel);
    } else if (method.id == AMQP_BASIC_QOS_OK_METHOD) {
      attempt.over = true;
    } else if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
      take_refusal(frame.channel, *static_cast<amqp_channel_close_t*>(method.decoded));
    }
  }

  /// Those that have not answered: this is why.
  std::vector<Verdict> verdicts(Verdict::Kind otherwise, const std::string& why) const {
    std::vector<Verdict> all;
    for (const auto& attempt : attempts_) {
      bool answered = attempt.over || attempt.verdict.kind == Verdict::Kind::well;
      all.push_back(answered ? attempt.verdict : Verdict{.kind = otherwise, .why = why});
    }
    return all;
  }

 private:
  struct Attempt {
    Verdict verdict{};
    std::uint64_t delivered = 0;
    bool cancelled = false;
    bool over = false;
  };

  void ask(std::size_t place, const std::string& queue) {
    amqp_basic_consume_t consume{};
    consume.queue = bytes_of(queue);
    consume.consumer_tag = bytes_of(consumer_tag);
    connection_.send(static_cast<amqp_channel_t>(place + 1), AMQP_BASIC_CONSUME_METHOD, &consume);
  }

  /// A request that changes nothing. What a queue delivers as soon as it is consumed is there
  /// before the answer, and what goes back is in its place: then the others are read in order.
  void wait_for_channel(amqp_channel_t channel) {
    amqp_basic_qos_t same{0, 1, 0};
    connection_.send(channel, AMQP_BASIC_QOS_METHOD, &same);
  }

  void give_back(Attempt& attempt, amqp_channel_t channel) {
    if (attempt.delivered == 0) return;
    amqp_basic_nack_t back{std::exchange(attempt.delivered, 0), 1, 1};
    connection_.send(channel, AMQP_BASIC_NACK_METHOD, &back);
  }

  void take_header(const amqp_frame_t& frame) {
    if (frame.channel == 0 || frame.channel > attempts_.size()) return;
    const auto* decoded =
        static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
    auto& gave_back = attempts_[frame.channel - 1].verdict.gave_back;
    gave_back = std::max(gave_back, read_properties(*decoded).returns + 1);
  }

  void take_refusal(amqp_channel_t channel, const amqp_channel_close_t& close) {
    const Refused refused{close.reply_code, std::string{view(close.reply_text)}};
    auto kind = refused.no_such_queue() ? Verdict::Kind::missing : Verdict::Kind::refused;
    attempts_[channel - 1] = {.verdict = {.kind = kind, .why = refused.what()}, .over = true};
    amqp_channel_close_ok_t ok{};
    connection_.send(channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
    open_[channel - 1] = false;
  }

  Connection& connection_;
  std::span<const std::string> queues_;
  std::vector<bool>& open_;
  std::vector<Attempt> attempts_;
};

void Trial::prepare(std::size_t channels) {
  if (!connection_) {
    open_.assign(most, false);
    // Nothing is read between two trials, so there are no heartbeats.
    connection_ =
        std::make_unique<Connection>(address_, "holdfast queue trial", std::chrono::seconds{0});
    open_[0] = true;
    connection_->limit_prefetch(Connection::channel, 1);
  }
  for (std::size_t i = 0; i < channels; ++i) {
    if (open_[i]) continue;
    auto channel = static_cast<amqp_channel_t>(i + 1);
    connection_->open_channel(channel);
    connection_->limit_prefetch(channel, 1);
    open_[i] = true;
  }
}

std::vector<Trial::Verdict> Trial::listen_to(std::span<const std::string> queues, Millis patience,
                                             const std::stop_token& stop) {
  queues = queues.first(std::min(queues.size(), most));
  // A connection that was there may have ended since it was used last, which says nothing.
  if (connection_) {
    try {
      prepare(queues.size());
      auto verdicts = try_once(queues, patience, stop);
      bool all_cut = std::ranges::all_of(
          verdicts, [](const auto& each) { return each.kind == Verdict::Kind::cut; });
      if (!all_cut) return verdicts;
    } catch (const Disconnected&) {
      connection_.reset();
    }
  }
  try {
    prepare(queues.size());
  } catch (const Error&) {
    connection_.reset();
    throw;
  }
  return try_once(queues, patience, stop);
}

std::vector<Trial::Verdict> Trial::try_once(std::span<const std::string> queues, Millis patience,
                                            const std::stop_token& stop) {
  Round round{*connection_, queues, open_};
  try {
    round.begin();
    auto heard_at = std::chrono::steady_clock::now();
    while (!round.over() && !stop.stop_requested() &&
           std::chrono::steady_clock::now() - heard_at < patience) {
      auto frame = connection_->read(a_moment);
      if (!frame) continue;
      round.take(*frame);
      heard_at = std::chrono::steady_clock::now();
    }
  } catch (const Closed& closed) {
    connection_.reset();
    return round.verdicts(Verdict::Kind::closed, closed.what());
  } catch (const Disconnected& ended) {
    connection_.reset();
    return round.verdicts(Verdict::Kind::cut, ended.what());
  }
  if (!round.over()) connection_.reset();  // a channel that does not answer cannot even be closed
  return round.verdicts(
      Verdict::Kind::silent,
      fmt::format("the server did not answer basic.consume within {}", duration_text(patience)));
}

}  // namespace holdfast::rabbitmq
