# How every file of ours is compiled: C++20, warnings as errors, and floating point that rounds in one way only.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(POTLUCK_CCACHE ccache)
if(POTLUCK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The tests' precompiled header is only cached if ccache need not look for __TIME__ in what it holds. Paths below the
  # base folder count as relative ones, so that a second clone on the same computer finds what the first compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${POTLUCK_CCACHE}")
endif()

add_library(potluck_compile_options INTERFACE)
if(MSVC)
  target_compile_options(potluck_compile_options INTERFACE /W4 /WX /permissive- /utf-8 /fp:precise)
else()
  target_compile_options(potluck_compile_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -ffp-contract=off -fno-fast-math
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=  # programs do not tell where they were built, and are alike wherever
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-sign-conversion>)  # which GCC leaves out of -Wconversion
  find_program(POTLUCK_MOLD mold)
  if(POTLUCK_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
    # Segments on pages of their own: mold 1.10 lays thread-local data of one byte (LibTorch's headers have such) before
    # the pages that are sealed after loading; where the code ends a few bytes before a page, that program cannot start.
    add_link_options(-fuse-ld=mold -Wl,-z,separate-code)
  endif()
endif()

set(POTLUCK_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined or thread")
if(POTLUCK_SANITIZE)
  # A finding ends the program: undefined behaviour that is only printed would pass a test.
  add_compile_options(-fsanitize=${POTLUCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(POTLUCK_SANITIZE MATCHES "undefined")
    # The address sanitizer sees what these would; they make a third of the code.
    add_compile_options(-fno-sanitize=null,vptr,object-size)
  endif()
  # Lines are all that a report needs; the build types' -g makes sanitizer builds twice as large and long.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-gline-tables-only)
  elseif(NOT MSVC)
    add_compile_options(-g1)
  endif()
  add_link_options(-fsanitize=${POTLUCK_SANITIZE})
endif()
