# Finds LibTorch and gives PotluckTorch::torch, which links libtorch_cpu and libc10 and nothing else: a GPU back end is
# opened at run time if it is there, so one build runs with and without. TorchConfig.cmake is not used, because that of
# a CUDA build demands the whole CUDA toolkit of everyone who compiles.
#
# Looked for in: Torch_DIR (its share/cmake/Torch, as LibTorch's own documents say, or the root), POTLUCK_TORCH_ROOT
# (both as CMake or environment variable), <source>/.deps/torch, the system. A root holds include/ and lib/.
#
# Sets PotluckTorch_FOUND, PotluckTorch_VERSION, PotluckTorch_LIBRARY_DIR.

set(PotluckTorch_VERSION_LOWEST 2.6)

set(_roots "")
foreach(_variable POTLUCK_TORCH_ROOT Torch_DIR)
  foreach(_value "${${_variable}}" "$ENV{${_variable}}")
    if(_value)
      list(APPEND _roots "${_value}" "${_value}/../../..")
    endif()
  endforeach()
endforeach()
list(APPEND _roots "${CMAKE_SOURCE_DIR}/.deps/torch")

find_path(PotluckTorch_INCLUDE_DIR ATen/ATen.h HINTS ${_roots} PATH_SUFFIXES include NO_CMAKE_PATH)
find_library(PotluckTorch_CPU_LIBRARY torch_cpu HINTS ${_roots} PATH_SUFFIXES lib NO_CMAKE_PATH)
find_library(PotluckTorch_C10_LIBRARY c10 HINTS ${_roots} PATH_SUFFIXES lib NO_CMAKE_PATH)
mark_as_advanced(PotluckTorch_INCLUDE_DIR PotluckTorch_CPU_LIBRARY PotluckTorch_C10_LIBRARY)

set(PotluckTorch_VERSION "")
foreach(_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  set(_header "${PotluckTorch_INCLUDE_DIR}/${_header}")
  if(NOT PotluckTorch_VERSION AND PotluckTorch_INCLUDE_DIR AND EXISTS "${_header}")
    file(STRINGS "${_header}" _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    if(_lines MATCHES "MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+)")
      set(PotluckTorch_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
    endif()
  endif()
endforeach()

set(_advice "LibTorch >= ${PotluckTorch_VERSION_LOWEST} is needed to build the trainer: run ./dev setup, or pass \
-DPOTLUCK_TORCH_ROOT=<folder with include/ and lib/>, or build without a trainer with -DPOTLUCK_TRAINING=OFF.")
if(PotluckTorch_VERSION AND PotluckTorch_VERSION VERSION_LESS PotluckTorch_VERSION_LOWEST)
  set(_advice "The LibTorch in ${PotluckTorch_INCLUDE_DIR} is ${PotluckTorch_VERSION}. ${_advice}")
  set(PotluckTorch_VERSION "")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PotluckTorch
  REQUIRED_VARS PotluckTorch_CPU_LIBRARY PotluckTorch_C10_LIBRARY PotluckTorch_INCLUDE_DIR PotluckTorch_VERSION
  VERSION_VAR PotluckTorch_VERSION
  REASON_FAILURE_MESSAGE "${_advice}")

if(PotluckTorch_FOUND AND NOT TARGET PotluckTorch::torch)
  get_filename_component(PotluckTorch_LIBRARY_DIR "${PotluckTorch_CPU_LIBRARY}" DIRECTORY)
  add_library(PotluckTorch::c10 UNKNOWN IMPORTED)
  set_target_properties(PotluckTorch::c10 PROPERTIES IMPORTED_LOCATION "${PotluckTorch_C10_LIBRARY}")
  add_library(PotluckTorch::torch UNKNOWN IMPORTED)
  set_target_properties(PotluckTorch::torch PROPERTIES
    IMPORTED_LOCATION "${PotluckTorch_CPU_LIBRARY}"
    INTERFACE_LINK_LIBRARIES PotluckTorch::c10
    # An imported target is a system include for its users: its warnings are not our errors.
    INTERFACE_INCLUDE_DIRECTORIES
      "${PotluckTorch_INCLUDE_DIR};${PotluckTorch_INCLUDE_DIR}/torch/csrc/api/include")
  if(NOT MSVC)
    # libgomp lies beside libtorch_cpu under its own file name: the linker looks there for it. The loader does, too, since
    # CMake writes the folder into what is built, and takes it out of what is installed.
    set_property(TARGET PotluckTorch::torch APPEND PROPERTY
      INTERFACE_LINK_OPTIONS "-Wl,-rpath-link,${PotluckTorch_LIBRARY_DIR}")
  endif()
endif()

unset(_roots)
unset(_advice)
