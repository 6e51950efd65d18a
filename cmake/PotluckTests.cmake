# How tests and benches are built. One file is one Qt Test program: `./dev test --only test_x` builds and runs it.

# Parsing Qt Test once for a folder of tests hides a missing include, too, but only of a test.
option(POTLUCK_TEST_HEADER "Parse Qt Test and JSON once for a folder of tests" ${POTLUCK_UNITY})

add_custom_target(potluck_tests)    # what `./dev test` builds: every test and what tests start
add_custom_target(potluck_benches)  # what `./dev bench` builds

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
