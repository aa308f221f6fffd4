#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// What stands in the place of a credential.
inline constexpr std::string_view hidden_mark = "[hidden]";

struct Redacted {
  std::string text{};
  bool hidden = false;  ///< something was replaced
};

/// JSON text, or the beginning of one that was cut off somewhere, without the credentials in it.
/// Hidden are the values of members with secret names (`is_secret_name`), however deep and however
/// the name is escaped; the values of pairs that name them, `{"name":"X-Api-Key","value":"..."}`
/// and `["X-Api-Key","..."]`; and in every string what `redact_text` finds, or, if the string is
/// itself JSON, what this function finds. Everything else stays byte for byte what it was: whole
/// JSON stays JSON. What is not JSON is treated as text. Takes time by the length of the text
/// whatever is in it, and never throws but for memory.
Redacted redact_json(std::string_view json);
/// The same for a document of ours, whose members we have named ourselves: `"token": 17` is shown,
/// and in its strings is looked as in those of `redact_json`.
Redacted redact_document(std::string_view json);

/// Text for people (an error, a line of a log, a URL) without what looks like a credential in it:
/// `password=...`, `Authorization: ...`, `Bearer ...`, `?token=...`, `user:password@host`, private
/// keys, JSON Web Tokens, and keys that are known by how they begin. The same promises.
Redacted redact_text(std::string_view text);

}  // namespace holdfast
