#pragma once

#include <holdfast/outcome.hpp>

namespace holdfast {

/// What the exception that is being handled means for the attempt that threw it: a payload that
/// does not fit is held, everything else is tried again. Call it in a `catch` block.
Outcome outcome_of_thrown();

}  // namespace holdfast
