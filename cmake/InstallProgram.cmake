# The program, its manual page and the completions of the shells.
if(TARGET holdfast_program)
  install(TARGETS holdfast_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT program)
endif()

function(install_if_there file)
  cmake_parse_arguments(arg "" "TO;AS" "" ${ARGN})
  if(EXISTS ${PROJECT_SOURCE_DIR}/${file})
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${arg_TO} RENAME ${arg_AS}
      COMPONENT program)
  endif()
endfunction()

install_if_there(docs/man/holdfast.1 TO man/man1 AS holdfast.1)
install_if_there(packaging/completions/holdfast.bash TO bash-completion/completions AS holdfast)
install_if_there(packaging/completions/holdfast.fish TO fish/vendor_completions.d AS holdfast.fish)
install_if_there(packaging/completions/holdfast.zsh TO zsh/vendor-completions AS _holdfast)
