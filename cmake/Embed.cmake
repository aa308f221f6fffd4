# Puts the files of a folder into the program.
#   holdfast_embed(NAME FOLDER folder [DEPENDS files or targets...])
# makes a library holdfast_embed_NAME with one function (see src/server/embedded.hpp):
#   std::span<const EmbeddedFile> holdfast::server::NAME_files();
# The files are looked for when it is built, so that a build step before it, one of DEPENDS, may
# choose their names.
function(holdfast_embed name)
  cmake_parse_arguments(arg "" "FOLDER" "DEPENDS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND holdfast_embedder ${name} ${arg_FOLDER} ${source}
    DEPENDS holdfast_embedder ${arg_DEPENDS}
    COMMENT "Embedding ${name}"
    VERBATIM)
  add_library(holdfast_embed_${name} STATIC ${source})
  target_include_directories(holdfast_embed_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(holdfast_embed_${name} PRIVATE holdfast_options)
endfunction()
