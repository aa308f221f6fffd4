# Settings that every target of ours shares.
add_library(holdfast_options INTERFACE)
target_compile_features(holdfast_options INTERFACE cxx_std_20)
target_compile_options(holdfast_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -fstack-protector-strong -fcf-protection
  $<$<BOOL:${HOLDFAST_WERROR}>:-Werror>
  # g++ 12 sees overlaps in std::string at -O3 that are not there (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Where several files are compiled as one, what is private to one is seen by the next.
  $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-shadow>
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
target_compile_definitions(holdfast_options INTERFACE _GLIBCXX_ASSERTIONS
  $<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2>
  $<$<BOOL:${HOLDFAST_KILL_POINTS}>:HOLDFAST_KILL_POINTS>)
target_link_options(holdfast_options INTERFACE -Wl,-z,relro,-z,now)

# A folder of src/ is an object library, so that what it links stays private to it. All of them
# together are libholdfast.
#   holdfast_folder(NAME SOURCES... [USES folders...] [PRIVATE libraries...])
function(holdfast_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  set(target holdfast_${name})
  add_library(${target} OBJECT ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC Boost::json
    PRIVATE holdfast_options fmt::fmt ${arg_PRIVATE})
  foreach(used ${arg_USES})
    target_include_directories(${target} PRIVATE
      $<TARGET_PROPERTY:holdfast_${used},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_FOLDERS ${target})
endfunction()
