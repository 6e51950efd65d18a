# One folder, one library: every .cpp beside the CMakeLists.txt belongs to it. Includes are written from the root.

# Compiling eight sources of a room as one takes a third of the time, because most of it goes into headers. Names at
# namespace scope must then differ within a room, in anonymous namespaces, too. The preset dev and `./dev mutate` compile
# each source alone, which shows a missing include.
option(POTLUCK_UNITY "Compile sources of a room together" ON)

# potluck_library(<name> [SEPARATE] [PUBLIC <libraries others see>] [PRIVATE <libraries only its sources see>])
# SEPARATE: each source is compiled alone in every build, because it depends on its own options, inlining, or
# translation context.
function(potluck_library name)
  cmake_parse_arguments(arg "SEPARATE" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE potluck_compile_options ${arg_PRIVATE})
  if(POTLUCK_UNITY AND NOT arg_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC takes a source that another one includes for a header, and warns of its anonymous namespaces.
      target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# potluck_program(<name> <libraries>...): an executable from every .cpp of the folder.
function(potluck_program name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE potluck_compile_options ${ARGN})
endfunction()

# What the compiler defines by itself (__linux__ and the like), which moc does not know but needs to see the same slots.
set(potluck_moc_defines "${CMAKE_BINARY_DIR}/moc_defines.h")
if(NOT EXISTS "${potluck_moc_defines}" AND NOT MSVC)
  file(WRITE "${CMAKE_BINARY_DIR}/moc_empty.cpp" "")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -dM -E "${CMAKE_BINARY_DIR}/moc_empty.cpp" OUTPUT_FILE "${potluck_moc_defines}")
endif()

# potluck_moc(<target> <file>): runs moc; test_x.cpp includes its test_x.moc itself, a header's moc_x.cpp is compiled.
function(potluck_moc target source)
  get_filename_component(source_name "${source}" NAME_WE)
  get_filename_component(extension "${source}" EXT)
  get_filename_component(path "${source}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.moc.d")
  if(extension STREQUAL ".cpp")
    set(out "${folder}/${source_name}.moc")
    set(options -i)  # the file includes what moc writes, not the other way round
  else()
    set(out "${folder}/moc_${source_name}.cpp")
    set(options "-f${path}")
  endif()
  if(NOT MSVC)
    list(APPEND options --include "${potluck_moc_defines}")
  endif()
  add_custom_command(OUTPUT "${out}" DEPENDS "${path}" VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
    COMMAND Qt6::moc ${options} -o "${out}" "${path}")
  target_sources(${target} PRIVATE "${out}")
endfunction()
