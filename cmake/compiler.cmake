# Warnings, hardening and sanitizers for our own code; third-party headers are SYSTEM and stay silent.
option(TRAINYARD_WERROR "Warnings are errors" OFF)
set(TRAINYARD_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

add_library(trainyard_compiler INTERFACE)
target_compile_options(trainyard_compiler INTERFACE
  -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast
  $<$<BOOL:${TRAINYARD_WERROR}>:-Werror>
  # The rules of gcc for clang, too: it counts signs to -Wconversion, and reports libstdc++'s own use of what that
  # deprecates (std::stable_sort) as ours.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion -Wno-deprecated-declarations>
  # Names of files that are compiled together (cmake/unity.cmake) shadow one another.
  $<$<BOOL:${TRAINYARD_UNITY}>:-Wno-shadow>
  $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2 -fstack-protector-strong -D_GLIBCXX_ASSERTIONS>)
target_compile_definitions(trainyard_compiler INTERFACE TRAINYARD_VERSION="${PROJECT_VERSION}")
target_include_directories(trainyard_compiler INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})

if(TRAINYARD_SANITIZE)
  add_compile_options(-fsanitize=${TRAINYARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TRAINYARD_SANITIZE})
endif()

# trainyard_library(NAME [sources...] DEPENDS libs... PRIVATE libs...): one static library per folder of src/.
function(trainyard_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  add_library(trainyard_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(trainyard_${name} PUBLIC trainyard_compiler ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE})
endfunction()
