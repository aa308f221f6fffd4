#pragma once

#include <span>
#include <string_view>

namespace holdfast::server {

/// A file that was put into the program when it was built; see cmake/Embed.cmake.
struct EmbeddedFile {
  std::string_view path;  ///< within its folder: `/assets/app.js`
  std::string_view content_type;
  std::string_view gzipped;
  std::string_view etag;  ///< with its quotes
};

}  // namespace holdfast::server
