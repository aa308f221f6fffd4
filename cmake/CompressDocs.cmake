# Run by CPack on what it is about to pack: Debian wants manual pages and changelogs
# compressed.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/holdfast.1
  ${CPACK_TEMPORARY_DIRECTORY}/changelog)
foreach(page ${pages})
  execute_process(COMMAND gzip -9nf ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
