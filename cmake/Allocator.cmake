# holdfast_allocator(TARGET): the allocator of our own programs. What one thread allocates another
# one frees here all the time (claims, answers, settlements), which glibc's does at a quarter of the
# processor time of a request. The library leaves the choice to those who link it.
pkg_check_modules(jemalloc IMPORTED_TARGET jemalloc)
option(HOLDFAST_JEMALLOC "Link jemalloc into the programs" ${jemalloc_FOUND})

function(holdfast_allocator target)
  if(HOLDFAST_JEMALLOC)
    target_link_libraries(${target} PRIVATE PkgConfig::jemalloc)
  endif()
endfunction()
