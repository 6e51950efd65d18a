# One folder, one library: every .cpp beside the CMakeLists.txt belongs to it. Includes are written from the root.

# Compiling eight sources of a room as one takes a third of the time, because most of it goes into headers. Names at
# namespace scope must then differ within a room, in anonymous namespaces, too. The preset dev and `./dev mutate` compile
# each source alone, which shows a missing include.
option(POTLUCK_UNITY "Compile sources of a room together" ON)
# Parsing Qt Test once for a folder of tests hides a missing include, too, but only of a test.
option(POTLUCK_TEST_HEADER "Parse Qt Test and JSON once for a folder of tests" ${POTLUCK_UNITY})

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

add_custom_target(potluck_tests)    # what `./dev test` builds: every test and what tests start
add_custom_target(potluck_benches)  # what `./dev bench` builds

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

# Qt Test and JSON, parsed once for all tests of a folder (Qt defines its path): without that they are most of a test's
# compilation. -O1: a test's own code is no faster for more, and what it tests is optimised elsewhere.
set(potluck_test_options $<$<CONFIG:Release>:-O1>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND potluck_test_options -Wno-array-bounds -Wno-restrict
    -Wno-stringop-overflow)  # GCC 12 at -O1 misjudges std::string (its PR 105651)
endif()
if(POTLUCK_SANITIZE)
  set(potluck_test_options -O0)
endif()
function(potluck_share_test_header test)
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(header potluck_test_header_${folder})
  if(NOT TARGET ${header})
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_header.cpp" CONTENT "// Compiles the header that tests share.\n")
    add_library(${header} OBJECT "${CMAKE_BINARY_DIR}/test_header.cpp")
    target_link_libraries(${header} PRIVATE potluck_compile_options Qt6::Test)
    target_compile_options(${header} PRIVATE ${potluck_test_options})
    target_precompile_headers(${header} PRIVATE <QtTest> <nlohmann/json.hpp>)
  endif()
  target_precompile_headers(${test} REUSE_FROM ${header})
  # Tests of the window or of LibTorch are compiled with other options; the compiler then reads the headers themselves.
  set_target_properties(${test} PROPERTIES PCH_WARN_INVALID OFF)
endfunction()

# potluck_test(<file.cpp> [TIMEOUT s] [LABEL l] [SERIAL] [ISAS] [LIBRARIES ...] [PROGRAMS ...] [SOURCES ...] [MOC ...]): one
# Qt Test program, named after its file. PROGRAMS are what it starts, SOURCES what it compiles beside itself, MOC the headers with slots among
# them. moc is run on the files that have slots, without CMake's scanning of every target, which takes longer than
# compiling a small test. ISAS runs it again as on a computer with AVX2 and on one with SSE2 alone
# (core/base/processor/isa.h), as test_x_avx2 and test_x_baseline.
function(potluck_test file)
  cmake_parse_arguments(arg "SERIAL;ISAS" "TIMEOUT;LABEL" "LIBRARIES;PROGRAMS;MOC;SOURCES" ${ARGN})
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${file} ${arg_SOURCES})
  foreach(source ${file} ${arg_MOC})
    potluck_moc(${name} "${source}")
  endforeach()
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/${name}.moc.d")
  target_link_libraries(${name} PRIVATE potluck_compile_options Qt6::Test ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${potluck_test_options})
  if(POTLUCK_TEST_HEADER AND NOT MSVC)
    potluck_share_test_header(${name})
  endif()
  target_compile_definitions(${name} PRIVATE
    POTLUCK_SOURCE_DIR="${CMAKE_SOURCE_DIR}" POTLUCK_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  add_test(NAME ${name} COMMAND ${name})
  add_dependencies(potluck_tests ${name})
  if(arg_PROGRAMS)
    add_dependencies(${name} ${arg_PROGRAMS})  # whoever builds one test alone gets what it starts, too
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  # No battery and no hot processor of the computer that runs the tests pauses what they train.
  set(environment "QT_QPA_PLATFORM=offscreen" "POTLUCK_PAUSE_FOR=none")
  if(POTLUCK_SANITIZE)
    # Sanitizers make our code 2 to 15 times slower; what waits for the network is not slower at all.
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 4")
    list(APPEND environment "TSAN_OPTIONS=second_deadlock_stack=1:die_after_fork=0:exitcode=0:log_path=${CMAKE_BINARY_DIR}/reports/tsan")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${environment}")
  if(arg_ISAS AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT MSVC)
    foreach(isa avx2 baseline)
      add_test(NAME ${name}_${isa} COMMAND ${name})
      set_tests_properties(${name}_${isa} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS isa SKIP_RETURN_CODE 77
        ENVIRONMENT "${environment};POTLUCK_ISA=${isa}")
    endforeach()
  endif()
  if(arg_LABEL)
    set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL})
  endif()
  if(arg_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# potluck_bench(<file.cpp> [LIBRARIES ...] [PROGRAMS ...]): one program that measures.
function(potluck_bench file)
  cmake_parse_arguments(arg "" "" "LIBRARIES;PROGRAMS" ${ARGN})
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${file})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE POTLUCK_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_link_libraries(${name} PRIVATE potluck_compile_options ${arg_LIBRARIES})
  add_dependencies(potluck_benches ${name} ${arg_PROGRAMS})
endfunction()
