# Precompiled headers for builds that compile everything and run once, as CI does on a new machine: with clang instead of
# gcc, they take a third to half of the time. Only for clang, and never for what is shipped: without them a file that
# lacks an include is found.
option(TRAINYARD_PRECOMPILED "Precompile the headers that most files include (clang)" OFF)
if(NOT TRAINYARD_PRECOMPILED)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "TRAINYARD_PRECOMPILED needs clang, and the compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()

if(TRAINYARD_TESTS)
  find_package(Catch2 2 REQUIRED)
endif()
set(base_headers <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <deque> <functional> <limits> <map> <memory> <numeric>
  <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
set(test_headers ${base_headers} <fstream> <sstream> <catch2/catch.hpp>)

# ccache compares this text in place of the precompiled header, which holds paths and so differs between two clones.
function(trainyard_precompiled_text target)
  set(text "${CMAKE_CXX_COMPILER_VERSION} ${ARGN}")
  foreach(package fmt Catch2 tl-expected)
    string(APPEND text " ${package} ${${package}_VERSION}")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum" CONTENT "${text}\n")
endfunction()

function(trainyard_precompile target)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp" CONTENT "")
  add_library(${target} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  target_link_libraries(${target} PUBLIC trainyard_compiler fmt::fmt tl::expected Threads::Threads $<TARGET_NAME_IF_EXISTS:Catch2::Catch2>)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # The header's time of change must not make two builds differ.
  target_compile_options(${target} PRIVATE -pthread "SHELL:-Xclang -fno-pch-timestamp")
  trainyard_precompiled_text(${target} ${ARGN})
  # Ninja compiles a target's sources as soon as the custom targets that it depends on are done, but without waiting for
  # the objects of its libraries. A custom target behind the header makes them wait for it.
  add_custom_target(${target}_done)
  add_dependencies(${target}_done ${target})
endfunction()

trainyard_precompile(trainyard_precompiled_base ${base_headers})
if(TRAINYARD_TESTS)
  trainyard_precompile(trainyard_precompiled_tests ${test_headers})
endif()

# trainyard_use_precompiled(FOLDER TARGET): for every library and program below the folder that uses fmt.
function(trainyard_use_precompiled folder precompiled)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  list(REMOVE_ITEM targets trainyard_test_main)  # includes Catch2 in the way that defines its main
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "LIBRARY|EXECUTABLE" AND NOT type STREQUAL "INTERFACE_LIBRARY")
      # Not by REUSE_FROM: it names the header in a way that ccache does not take for a path, so no clone would find what
      # another one compiled. A header that was compiled for threads is refused without them.
      target_compile_options(${target} PRIVATE -pthread
        "SHELL:-include-pch ${CMAKE_BINARY_DIR}/CMakeFiles/${precompiled}.dir/cmake_pch.hxx.pch")
      add_dependencies(${target} ${precompiled}_done)
    endif()
  endforeach()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(each ${below})
    trainyard_use_precompiled(${each} ${precompiled})
  endforeach()
endfunction()

foreach(folder src operator extender agent cli)
  trainyard_use_precompiled(${CMAKE_SOURCE_DIR}/${folder} trainyard_precompiled_base)
endforeach()
if(TRAINYARD_TESTS)
  trainyard_use_precompiled(${CMAKE_SOURCE_DIR}/tests trainyard_precompiled_tests)
endif()
