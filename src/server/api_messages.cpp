#include <algorithm>

#include <fmt/format.h>

#include "documents/json.hpp"
#include "documents/redact.hpp"
#include "http/base64.hpp"
#include "recovery/plain_text.hpp"
#include "results/produce.hpp"
#include "server/fields.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "transactions/dead_letters.hpp"

namespace holdfast::server {

namespace {

/// As many dead letters as one request looks at.
constexpr int most_letters = 10'000;
/// Of a body, an answer shows so much.
constexpr std::size_t most_body_bytes = 512 * 1024;
constexpr int most_received = 100;
constexpr int longest_receive_ms = 2'000;

/// What the broker says is said to the caller.
template <class Ask>
Response of_broker(const Ask& ask) {
  try {
    return ask();
  } catch (const QueueMissing& error) {
    throw not_found(error.what());
  } catch (const BrokerError& error) {
    throw Problem{503, "broker_away", error.what()};
  }
}

/// `body` if it is text, else `base64`; `truncated` if it is longer than an answer shows.
void add_body(JsonObject& object, Delivery& delivery) {
  std::string body(std::min<std::uint64_t>(delivery.size(), most_body_bytes), '\0');
  body.resize(delivery.read(0, body));
  const bool text = is_utf8(body);
  object.number("bytes", delivery.size()).flag("truncated", delivery.size() > body.size());
  object.json("body", text ? json_string(body) : "");
  object.json("base64", text ? "" : json_string(http::base64(body)));
}

std::string headers_json(const MessageHeaders& headers) {
  JsonObject object;
  for (const auto& [name, value] : headers) object.text(name, value);
  return object.str();
}

JsonObject letter_object(const DeadLetters::Letter& letter) {
  JsonObject object;
  object.text("letter", letter.name)
      .text("id", letter.delivery->id())
      .text("queue", letter.queue())
      .text("reason", redact_text(letter.reason()).text);
  return object;
}

Response list_letters(Service& service, const Request& request) {
  request.query.only({"store", "limit", "cursor"});
  auto& desk = service.store(request).messages;
  return of_broker([&] {
    const auto turn = desk.dead_letters();
    DeadLetters letters{desk.broker()};
    const auto page =
        listed(request.query, letters.take(most_letters), 50, 500, [](const auto& letter) {
          return letter_object(letter).number("bytes", letter.delivery->size()).str();
        });
    return json_response(JsonObject{}
                             .json("dead_letters", page.entries)
                             .json("next_cursor", cursor_json(page.next))
                             .str());
  });
}

Problem no_letter(const std::string& name) {
  return not_found(fmt::format("there is no dead letter '{}', or another caller holds it", name));
}

Response show_letter(Service& service, const Request& request) {
  request.query.only({"store"});
  auto& desk = service.store(request).messages;
  return of_broker([&] {
    const auto turn = desk.dead_letters();
    DeadLetters letters{desk.broker()};
    const auto found = letters.take(most_letters);
    const auto letter =
        std::ranges::find(found, request.place("letter"), &DeadLetters::Letter::name);
    if (letter == found.end()) throw no_letter(request.place("letter"));
    auto object = letter_object(*letter);
    object.json("headers", headers_json(letter->delivery->headers()));
    add_body(object, *letter->delivery);
    return json_response(object.str());
  });
}

Response change_letters(Service& service, const Request& request,
                        void (DeadLetters::*act)(const DeadLetters::Letter&)) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"letters", "all"});
  const auto names = fields.texts("letters");
  const bool all = fields.flag("all");
  if (names.empty() != all) throw invalid("name 'letters' or say 'all', and not both");
  auto& desk = service.store(request).messages;
  return of_broker([&] {
    const auto turn = desk.dead_letters();
    DeadLetters letters{desk.broker()};
    auto found = letters.take(most_letters);
    for (const auto& name : names)
      if (std::ranges::find(found, name, &DeadLetters::Letter::name) == found.end())
        throw no_letter(name);
    int changed = 0;
    for (const auto& letter : found) {
      if (!all && std::ranges::find(names, letter.name) == names.end()) continue;
      (letters.*act)(letter);
      ++changed;
    }
    return json_response(JsonObject{}.number("changed", changed).str());
  });
}

Response replay_letters(Service& service, const Request& request) {
  return change_letters(service, request, &DeadLetters::replay);
}
Response discard_letters(Service& service, const Request& request) {
  return change_letters(service, request, &DeadLetters::discard);
}

std::string body_of(const Fields& fields) {
  if (fields.has("body") == fields.has("base64"))
    throw invalid("give the bytes as 'body' (text) or as 'base64'");
  if (fields.has("body")) return fields.required_text("body");
  auto bytes = http::from_base64(fields.required_text("base64"));
  if (!bytes) throw invalid("'base64' is not base64");
  return *std::move(bytes);
}

Response publish(Service& service, const Request& request, const Message& message) {
  return of_broker([&] {
    service.store(request).messages.broker()->publish(message);
    return json_response(
        JsonObject{}.text("queue", message.queue).number("bytes", message.body.size()).str());
  });
}

Response send_message(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"queue", "id", "body", "base64"});
  return publish(service, request,
                 {fields.required_text("queue"), body_of(fields), fields.text("id").value_or("")});
}

Response send_header(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"series"});
  std::vector<results::AnnouncedSeries> series;
  for (const auto& each : fields.objects("series", 100)) {
    each.only({"name", "count"});
    series.push_back({.name = each.required_text("name"),
                      .count = each.required_number("count", 0, 1'000'000'000)});
  }
  return publish(service, request, results::header_message_of(request.place("id"), series));
}

Response send_part(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"series", "ordinal", "body", "base64"});
  return publish(service, request,
                 results::part_message_of(request.place("id"), fields.required_text("series"),
                                          fields.required_number("ordinal", 1, 1'000'000'000),
                                          body_of(fields)));
}

Response receive_messages(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"queue", "count", "wait_ms"});
  const auto count = static_cast<int>(fields.number("count", 1, most_received).value_or(1));
  const Millis wait{fields.number("wait_ms", 0, longest_receive_ms).value_or(500)};
  return of_broker([&] {
    std::vector<std::string> shown;
    for (const auto& [receipt, delivery] : service.store(request).messages.receive(
             fields.required_text("queue"), count, most_body_bytes, wait)) {
      JsonObject object;
      object.text("receipt", receipt).text("id", delivery->id());
      object.number("deliveries", delivery->deliveries());
      object.json("headers", headers_json(delivery->headers()));
      add_body(object, *delivery);
      shown.push_back(object.str());
    }
    return json_response(JsonObject{}.json("messages", json_list(shown)).str());
  });
}

Response settle_messages(Service& service, const Request& request, bool done) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"receipts"});
  return of_broker([&] {
    const auto changed = service.store(request).messages.settle(fields.texts("receipts"), done);
    return json_response(JsonObject{}.number("changed", changed).str());
  });
}

Response acknowledge_messages(Service& service, const Request& request) {
  return settle_messages(service, request, true);
}
Response return_messages(Service& service, const Request& request) {
  return settle_messages(service, request, false);
}

}  // namespace

void add_message_routes(Routes& routes, Service& service) {
  auto add = [&](const char* method, const char* path, Access access,
                 Response (*handler)(Service&, const Request&), std::size_t largest = small_body) {
    routes.add({.method = method,
                .pattern = path,
                .access = access,
                .handler = [&service,
                            handler](const Request& request) { return handler(service, request); },
                .largest_body = largest,
                .audited = access != Access::viewer});
  };
  add("GET", "/v1/dead-letters", Access::viewer, list_letters);
  add("POST", "/v1/dead-letters/replay", Access::operates, replay_letters);
  add("POST", "/v1/dead-letters/discard", Access::operates, discard_letters);
  add("GET", "/v1/dead-letters/{letter}", Access::operates, show_letter);
  add("POST", "/v1/messages/send", Access::operates, send_message, large_body);
  add("POST", "/v1/messages/receive", Access::operates, receive_messages);
  add("POST", "/v1/messages/acknowledge", Access::operates, acknowledge_messages);
  add("POST", "/v1/messages/return", Access::operates, return_messages);
  add("POST", "/v1/results/{id}/header", Access::operates, send_header);
  add("POST", "/v1/results/{id}/parts", Access::operates, send_part, large_body);
}

}  // namespace holdfast::server
