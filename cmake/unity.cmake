# Unity builds: the sources of a folder are compiled together, so that headers are read and templates are instantiated once
# for all of them. That takes a third of the time from nothing, and longer for a single change: for builds that compile
# everything once. Names in anonymous namespaces must be unique within a folder.
option(TRAINYARD_UNITY "Compile the sources of a folder together" OFF)
if(NOT TRAINYARD_UNITY)
  return()
endif()

set(TRAINYARD_UNITY_GROUP 12 CACHE STRING "How many sources at most are compiled together")

# trainyard_use_unity(FOLDER): for every library and program below the folder.
function(trainyard_use_unity folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "LIBRARY|EXECUTABLE" OR type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
      if(NOT source MATCHES "\\.cpp$")
        continue()
      endif()
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE path)
      cmake_path(GET path PARENT_PATH parent)
      cmake_path(RELATIVE_PATH parent BASE_DIRECTORY ${CMAKE_SOURCE_DIR})  # equal in all clones
      string(MAKE_C_IDENTIFIER "${parent}" name)
      math(EXPR count_${name} "0${count_${name}} + 1")
      math(EXPR group "(${count_${name}} - 1) / ${TRAINYARD_UNITY_GROUP}")
      set_property(SOURCE ${path} DIRECTORY ${folder} PROPERTY UNITY_GROUP "${name}_${group}")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endforeach()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(each ${below})
    trainyard_use_unity(${each})
  endforeach()
endfunction()

foreach(folder src operator extender agent cli)
  trainyard_use_unity(${CMAKE_SOURCE_DIR}/${folder})
endforeach()
