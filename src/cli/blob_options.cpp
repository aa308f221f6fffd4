#include "cli/blob_options.hpp"

#include <CLI/CLI.hpp>

namespace holdfast::cli {

void add_blob_mode(CLI::App& command, Context& context, const char* needs) {
  command
      .add_option("--blob-mode", context.blob_mode_option,
                  "Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the "
                  "folder can read them; default: the configuration's, else 0600")
      ->check(CLI::IsMember({"0600", "0640"}))
      ->needs(needs)
      ->type_name("MODE");
}

}  // namespace holdfast::cli
