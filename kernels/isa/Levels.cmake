# Reads ladder.txt. Sets PTLITE_LEVELS (those this compiler can build), PTLITE_FLAGS_<level>, PTLITE_DEFINITIONS_<level>,
# and writes isa_levels.h for the run-time side.
include(CheckCXXSourceCompiles)

set(PTLITE_LEVELS)
set(rows "")
set(ladder ${CMAKE_CURRENT_LIST_DIR}/ladder.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ladder})
file(STRINGS ${ladder} lines REGEX "^[A-Z]")
foreach(line IN LISTS lines)
  string(REPLACE "|" ";" columns "${line}")
  set(cells)
  foreach(column IN LISTS columns)
    string(STRIP "${column}" column)
    if(column STREQUAL "")
      set(column "-")
    endif()
    list(APPEND cells "${column}")
  endforeach()
  list(GET cells 0 level)
  list(GET cells 1 parent)
  list(GET cells 2 minimum)
  list(GET cells 3 PTLITE_SOURCES_${level})
  list(GET cells 4 xcr0)
  list(GET cells 5 features)
  list(GET cells 6 flags)

  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS minimum)
    message(STATUS "ISA level ${level} left out: it needs g++ ${minimum}, found ${CMAKE_CXX_COMPILER_VERSION}")
    continue()
  endif()
  if(NOT parent STREQUAL "-" AND NOT parent IN_LIST PTLITE_LEVELS)
    message(STATUS "ISA level ${level} left out: it builds upon ${parent}, which is left out")
    continue()
  endif()
  separate_arguments(flags)
  set(PTLITE_FLAGS_${level} ${PTLITE_FLAGS_${parent}} ${flags})
  set(PTLITE_CAPABILITIES_${level} ${PTLITE_CAPABILITIES_${parent}} CPU_CAPABILITY_${level})
  set(PTLITE_DEFINITIONS_${level} ${PTLITE_CAPABILITIES_${level}} CPU_CAPABILITY=${level})
  set(features_all "${PTLITE_FEATURES_${parent}} ${features}")
  string(STRIP "${features_all}" PTLITE_FEATURES_${level})
  math(EXPR PTLITE_XCR0_${level} "0${PTLITE_XCR0_${parent}} | ${xcr0}" OUTPUT_FORMAT DECIMAL)
  string(REGEX REPLACE " +" ", Feature_" feature_list "Feature_${PTLITE_FEATURES_${level}}")
  string(APPEND rows " \\\n  X(${level}, ${PTLITE_XCR0_${level}}, ${feature_list})")
  list(APPEND PTLITE_LEVELS ${level})
endforeach()
list(LENGTH PTLITE_LEVELS count)
file(CONFIGURE OUTPUT generated/isa_levels.h CONTENT
"// Written by isa/Levels.cmake from isa/ladder.txt; do not edit.
// X(level, XCR0 bits, features...)
#pragma once

#include <initializer_list>

#define PTLITE_LEVEL_COUNT ${count}
#define PTLITE_FOR_EACH_LEVEL(X)${rows}
" @ONLY)

# The files among ARGN that are compiled for `level`.
function(ptlite_sources_of level result)
  set(chosen)
  foreach(source IN LISTS ARGN)
    if(PTLITE_SOURCES_${level} STREQUAL "all")
      list(APPEND chosen ${source})
    else()
      file(STRINGS ${source} wanted REGEX "^// isa:.*[ ,]${level}([ ,]|$)")
      if(wanted)
        list(APPEND chosen ${source})
      endif()
    endif()
  endforeach()
  set(${result} ${chosen} PARENT_SCOPE)
endfunction()
