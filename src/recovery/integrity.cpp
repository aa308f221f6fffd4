#include <holdfast/integrity.hpp>

namespace holdfast {

std::string_view to_string(RunLevel level) {
  switch (level) {
    case RunLevel::normal:
      return "normal";
    case RunLevel::read_only:
      return "read-only";
    case RunLevel::halted:
      break;
  }
  return "halted";
}

std::string_view to_string(Damage::Kind kind) {
  switch (kind) {
    case Damage::Kind::file:
      return "file";
    case Damage::Kind::wal:
      return "wal";
    case Damage::Kind::index:
      return "index";
    case Damage::Kind::row:
      return "row";
    case Damage::Kind::lost:
      break;
  }
  return "lost";
}

}  // namespace holdfast
