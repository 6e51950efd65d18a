# How tests and benches are built. A test is one file with one class of Qt Test, and can always be built as a program
# of its own: `./dev test --only test_x` does. Where all are wanted, the tests of a room become one program, compiled
# six files at a time, because four fifths of a test's compilation goes into headers that its neighbours include, too.

# Parsing Qt Test once for a folder of tests hides a missing include, too, but only of a test.
option(POTLUCK_TEST_HEADER "Parse Qt Test and JSON once for a folder of tests" ${POTLUCK_UNITY})

# Two tests of a room may then use one name, also at namespace scope: each file gets a namespace around it. The preset
# dev and `./dev mutate` compile each test alone, which shows a name that is ambiguous without it.
option(POTLUCK_TEST_ROOMS "Build the tests of a room as one program" ${POTLUCK_UNITY})
set(potluck_test_batch 6)

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

# potluck_test_program(<target> FILES <file.cpp>... [LIBRARIES ...] [PROGRAMS ...] [SOURCES ...] [MOC ...]): what a test
# alone and the tests of a room have in common. moc is run on the files that have slots, without CMake's scanning of
# every target, which takes longer than compiling a small test.
function(potluck_test_program target)
  cmake_parse_arguments(arg "" "" "FILES;LIBRARIES;PROGRAMS;SOURCES;MOC" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  foreach(source ${arg_FILES} ${arg_MOC})
    potluck_moc(${target} "${source}")
  endforeach()
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/${target}.moc.d")
  target_link_libraries(${target} PRIVATE potluck_compile_options Qt6::Test ${arg_LIBRARIES})
  target_compile_options(${target} PRIVATE ${potluck_test_options})
  if(POTLUCK_TEST_HEADER AND NOT MSVC)
    potluck_share_test_header(${target})
  endif()
  target_compile_definitions(${target} PRIVATE
    POTLUCK_SOURCE_DIR="${CMAKE_SOURCE_DIR}" POTLUCK_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  if(arg_PROGRAMS)
    add_dependencies(${target} ${arg_PROGRAMS})  # a test that is built alone brings what it starts, too
  endif()
endfunction()

# Adds a test to the program of its room, which is made when the whole CMakeLists.txt was read: the folder's name after
# tests/, and below tests/unit that of the first folder in it. Sets `room` to the program's name.
function(potluck_join_room file libraries programs)
  get_filename_component(path "${file}" ABSOLUTE)
  file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}/tests" "${path}")
  get_filename_component(folder "${path}" DIRECTORY)
  string(REGEX REPLACE "^unit/([^/]+).*" "unit_\\1" room "${folder}")
  string(REPLACE "/" "_" room "tests_${room}")
  get_property(files GLOBAL PROPERTY ${room}_files)
  if(NOT files)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL potluck_build_room [[${room}]])")
  endif()
  set_property(GLOBAL APPEND PROPERTY ${room}_files "${path}")
  set_property(GLOBAL APPEND PROPERTY ${room}_libraries ${libraries})
  set_property(GLOBAL APPEND PROPERTY ${room}_programs ${programs})
  set(room ${room} PARENT_SCOPE)
endfunction()

# The program of a room: `tests_unit_ledger test_ledger [options of Qt Test]` runs one of its tests.
function(potluck_build_room room)
  foreach(part files libraries programs)
    get_property(${part} GLOBAL PROPERTY ${room}_${part})
    list(REMOVE_DUPLICATES ${part})
  endforeach()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${room}")
  set(sources "${folder}/main.cpp")
  list(TRANSFORM files PREPEND "${CMAKE_SOURCE_DIR}/tests/" OUTPUT_VARIABLE paths)
  list(LENGTH files left)
  set(begin 0)
  while(begin LESS left)
    list(SUBLIST files ${begin} ${potluck_test_batch} batch)
    list(TRANSFORM batch PREPEND "${CMAKE_SOURCE_DIR}/tests/" OUTPUT_VARIABLE batch_paths)
    string(REPLACE ";" "|" batch "${batch}")
    set(out "${folder}/from_${begin}.cpp")
    add_custom_command(OUTPUT "${out}" DEPENDS ${batch_paths} "${CMAKE_SOURCE_DIR}/cmake/join_tests.cmake" VERBATIM
      COMMAND ${CMAKE_COMMAND} "-DTESTS=${CMAKE_SOURCE_DIR}/tests" "-DFILES=${batch}" "-DOUT=${out}"
        -P "${CMAKE_SOURCE_DIR}/cmake/join_tests.cmake")
    list(APPEND sources "${out}")
    math(EXPR begin "${begin} + ${potluck_test_batch}")
  endwhile()

  set(declared "")
  set(rows "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    string(APPEND declared "namespace in_${name} { int main(int count, char** words); }\n")
    string(APPEND rows "    {\"${name}\", in_${name}::main},\n")
  endforeach()
  configure_file("${CMAKE_SOURCE_DIR}/cmake/tests_of_a_room.cpp.in" "${folder}/main.cpp" @ONLY)
  potluck_test_program(${room} FILES ${paths} SOURCES ${sources} LIBRARIES ${libraries} PROGRAMS ${programs})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${room} PRIVATE -Wno-subobject-linkage)  # as in a room of the product
  endif()
  add_dependencies(potluck_tests ${room})
endfunction()

# potluck_test(<file.cpp> [ALONE] [TIMEOUT s] [LABEL l] [SERIAL] [ISAS] [LIBRARIES ...] [PROGRAMS ...] [SOURCES ...] [MOC ...]):
# one Qt Test class, named after its file. PROGRAMS are what it starts, SOURCES what it compiles beside itself, MOC the
# headers with slots among them. ISAS runs it again as on a computer with AVX2 and on one with SSE2 alone
# (core/base/processor/isa.h), as test_x_avx2 and test_x_baseline. ALONE: never in the program of its room, since it puts
# its own functions in place of the system's, starts itself again, looks for its own name among the running programs, or
# undefines Qt's words for LibTorch's headers.
function(potluck_test file)
  cmake_parse_arguments(arg "ALONE;SERIAL;ISAS" "TIMEOUT;LABEL" "LIBRARIES;PROGRAMS;MOC;SOURCES" ${ARGN})
  get_filename_component(name ${file} NAME_WE)
  potluck_test_program(${name} FILES ${file} SOURCES ${file} ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES}
    PROGRAMS ${arg_PROGRAMS} MOC ${arg_MOC})
  if(NOT POTLUCK_TEST_ROOMS OR arg_ALONE OR arg_SOURCES)
    set(command ${name})
    add_dependencies(potluck_tests ${name})
  else()
    potluck_join_room("${file}" "${arg_LIBRARIES}" "${arg_PROGRAMS}")
    set(command ${room} ${name})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_test(NAME ${name} COMMAND ${command})
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
      add_test(NAME ${name}_${isa} COMMAND ${command})
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
