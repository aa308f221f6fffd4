#pragma once

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// Who may read the files that blobs become; `needs` is the option that says where they are.
void add_blob_mode(CLI::App& command, Context& context, const char* needs);

}  // namespace holdfast::cli
