#include "documents/redact.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "documents/ascii.hpp"
#include "documents/json.hpp"
#include "documents/json_unescape.hpp"
#include "documents/secret_names.hpp"

namespace holdfast {

namespace {

/// JSON in a string in JSON in a string: deeper, all of it is hidden.
constexpr int deepest_string = 4;
/// Longer strings are not names.
constexpr std::size_t longest_name = 400;

constexpr std::array naming = {"name", "key", "header", "field", "param", "parameter", "variable"};
constexpr std::array valued = {"value", "values", "val", "content", "data"};
constexpr std::array literals = {"true", "false", "null"};

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

Redacted redact(std::string_view json, int depth);

/// Finds the parts of one document that must not be shown, in one pass and without a stack of
/// calls.
class Walk {
 public:
  /// `by_name`: what members are called counts.
  Walk(std::string_view json, int depth, bool by_name = true)
      : json_{json}, depth_{depth}, by_name_{by_name} {}

  /// Nothing: this is not JSON.
  std::optional<Redacted> run() {
    while (at_ < json_.size() && !malformed_) step();
    if (malformed_ || values_ + frames_.size() == 0) return {};
    cut_off_ = !frames_.empty();
    while (!frames_.empty()) pop(json_.size());
    if (values_ != 1) return {};
    return emit();
  }

 private:
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// A part of the text, and what takes its place.
  struct Span {
    Place place{};
    bool whole = false;  ///< nothing of it is shown
    std::string instead{};
  };
  /// An object or an array that has begun.
  struct Frame {
    std::size_t begin = 0;
    bool object = false;
    bool hidden = false;           ///< by the name in front of it
    bool has_key = false;          ///< an object: its value comes next
    std::string key{};             ///< the name of the member at hand, in lower case
    bool secret = false;           ///< what comes next belongs to a secret name
    bool named = false;            ///< an object: it has a `"name"`
    bool names_secret = false;     ///< that is a secret one, such as `"X-Api-Key"`
    std::vector<Place> values{};   ///< an object: of its `"value"`; an array: its second element
    std::vector<Place> unnamed{};  ///< an object: of its `"value"` alone
    bool may_be_pair = false;      ///< an array: `["X-Api-Key", "..."]`
    bool alternates = false;       ///< an array: names and values in turn
    std::size_t items = 0;
  };

  bool is_hidden() const { return hidden_frames_ > 0; }
  Frame* parent() { return frames_.empty() ? nullptr : &frames_.back(); }

  void step() {
    const char c = json_[at_];
    if (is_blank(c) || c == ',') {
      ++at_;
    } else if (c == ':') {
      malformed_ = frames_.empty() || !frames_.back().has_key;
      ++at_;
    } else if (c == '{' || c == '[') {
      push(c == '{');
    } else if (c == '}' || c == ']') {
      malformed_ = frames_.empty() || frames_.back().object != (c == '}');
      if (!malformed_) pop(at_ + 1);
    } else if (c == '"') {
      string();
    } else {
      literal();
    }
  }

  void push(bool object) {
    Frame frame{.begin = at_++, .object = object};
    if (const auto* outer = parent()) {
      malformed_ = outer->object && !outer->has_key;
      frame.hidden = outer->secret;
      frame.alternates = !object && (outer->key.find("header") != outer->key.npos ||
                                     outer->key == "env" || outer->key == "environment");
      frame.may_be_pair = !object && !outer->object;
    } else {
      frame.may_be_pair = !object;
    }
    if (frame.hidden) ++hidden_frames_;
    frames_.push_back(std::move(frame));
  }

  void pop(std::size_t end) {
    at_ = end;
    const auto frame = std::move(frames_.back());
    frames_.pop_back();
    if (frame.hidden) --hidden_frames_;
    const Place place{frame.begin, end};
    if (frame.hidden)
      hide(place);
    else if (frame.names_secret && (frame.object || frame.items == 2))
      for (const auto& value : frame.values) hide(value);
    else if (by_name_ && cut_off_ && frame.object && !frame.named)
      // Its name may have been cut off.
      for (const auto& value : frame.unnamed) hide(value);
    ended(place);
  }

  void string() {
    const auto begin = at_;
    bool closed = false;
    for (++at_; at_ < json_.size() && !closed; ++at_) {
      closed = json_[at_] == '"';
      if (json_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_, json_.size());
    const Place place{begin, at_};
    auto* outer = parent();
    const bool is_key = outer && outer->object && !outer->has_key;
    if (is_hidden()) return is_key ? void(outer->has_key = true) : ended(place);
    const auto text = json_unescaped(json_.substr(begin + 1, at_ - begin - 1 - (closed ? 1 : 0)));
    if (is_key) return key(place, text);
    if (outer && outer->secret && !is_plain_value(outer->key, json_.substr(begin, at_ - begin)))
      hide(place);
    else
      replace(place, inside(text));
    note(text);
    ended(place);
  }

  void key(const Place& place, const std::string& text) {
    auto& frame = frames_.back();
    frame.has_key = true;
    frame.key = ascii_lowercase(std::string_view{text}.substr(0, longest_name));
    frame.secret = by_name_ && is_secret_name(text);
    replace(place, redact_text(text));
  }

  /// A string is a text, or JSON itself.
  Redacted inside(const std::string& text) const {
    const auto first = text.find_first_not_of(" \n\r\t");
    const char c = first == text.npos ? ' ' : text[first];
    if (c != '{' && c != '[' && c != '"') return redact_text(text);
    if (depth_ >= deepest_string) return {std::string{hidden_mark}, true};
    return redact(text, depth_ + 1);
  }

  /// Remembers a string that names what is beside it.
  void note(const std::string& text) {
    auto* frame = parent();
    if (!frame || !by_name_ || text.size() > longest_name) return;
    if (frame->object) {
      if (!is_among(naming, frame->key)) return;
      frame->named = at_ < json_.size();
      frame->names_secret = frame->names_secret || is_secret_name(text);
      return;
    }
    const bool named = (frame->alternates && frame->items % 2 == 0) || text.starts_with('-');
    if (frame->may_be_pair && frame->items == 0 && is_secret_name(text)) frame->names_secret = true;
    frame->secret = named && text.find('=') == text.npos && is_secret_name(text);
    noted_ = true;
  }

  void literal() {
    const auto begin = at_;
    while (at_ < json_.size() && !is_blank(json_[at_]) && json_[at_] != ',' && json_[at_] != ']' &&
           json_[at_] != '}' && json_[at_] != ':' && json_[at_] != '"')
      ++at_;
    const auto word = json_.substr(begin, at_ - begin);
    const bool number = word.find_first_not_of("+-.0123456789eE") == word.npos;
    const bool cut = at_ == json_.size();
    const auto fits = [&](std::string_view each) {
      return each == word || (cut && each.starts_with(word));
    };
    malformed_ = !number && std::ranges::none_of(literals, fits);
    if (const auto* outer = parent()) {
      malformed_ = malformed_ || (outer->object && !outer->has_key);
      if (!is_hidden() && outer->secret && !is_plain_value(outer->key, word)) hide({begin, at_});
    }
    ended({begin, at_});
  }

  /// A value is over.
  void ended(const Place& place) {
    const bool noted = std::exchange(noted_, false);
    auto* frame = parent();
    if (!frame) return void(++values_);
    if (frame->object) {
      if (is_among(valued, frame->key)) frame->values.push_back(place);
      if (frame->key == "value" || frame->key == "val") frame->unnamed.push_back(place);
      frame->has_key = false;
      frame->key.clear();
    }
    if (!frame->object && frame->items == 1) frame->values.push_back(place);
    if (!noted) frame->secret = false;
    ++frame->items;
  }

  void hide(const Place& place) {
    if (!is_hidden()) spans_.push_back({place, true, fmt::format("\"{}\"", hidden_mark)});
  }
  void replace(const Place& place, const Redacted& with) {
    if (with.hidden) spans_.push_back({place, false, json_string(with.text)});
  }

  Redacted emit() {
    // What is found later may be around what was found before.
    std::ranges::sort(spans_, [](const Span& one, const Span& other) {
      return std::tuple{one.place.begin, other.place.end, other.whole} <
             std::tuple{other.place.begin, one.place.end, one.whole};
    });
    Redacted found{.hidden = !spans_.empty()};
    std::size_t done = 0;
    for (const auto& [place, whole, instead] : spans_) {
      if (place.begin < done) continue;
      found.text += json_.substr(done, place.begin - done);
      found.text += instead;
      done = place.end;
    }
    found.text += json_.substr(done);
    return found;
  }

  std::string_view json_;
  int depth_;
  bool by_name_;
  std::size_t at_ = 0;
  std::vector<Frame> frames_{};
  std::size_t hidden_frames_ = 0;
  std::size_t values_ = 0;  ///< outside of all objects and arrays
  bool malformed_ = false;
  bool cut_off_ = false;
  bool noted_ = false;  ///< the string that just ended may name the next element
  std::vector<Span> spans_{};
};

Redacted redact(std::string_view json, int depth) {
  if (auto found = Walk{json, depth}.run()) return *std::move(found);
  return redact_text(json);
}

}  // namespace

Redacted redact_json(std::string_view json) { return redact(json, 0); }

Redacted redact_document(std::string_view json) {
  if (auto found = Walk{json, 0, false}.run()) return *std::move(found);
  return redact_text(json);
}

}  // namespace holdfast
