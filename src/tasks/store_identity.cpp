#include <holdfast/store_identity.hpp>

#include "tasks/engine_parts.hpp"

namespace holdfast {

std::string store_id(const Engine& engine) { return engine.parts().transfer().store_id(); }

bool is_moved_away(const Engine& engine) { return engine.parts().move_note().has_value(); }

}  // namespace holdfast
