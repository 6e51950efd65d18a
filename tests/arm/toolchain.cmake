# Debian's cross compiler for arm64, with the libraries of a root that tests/arm/run has made (ARM_ROOT), and qemu for
# running what it makes. moc is this computer's.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARM_ROOT POTLUCK_TORCH_ROOT)

set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)  # GCC's notes that it passed some arguments otherwise before its version 10
set(POTLUCK_MOLD OFF CACHE STRING "")  # GCC looks for a linker of its own target only
set(CMAKE_SYSROOT "${ARM_ROOT}")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH "${ARM_ROOT}" ${POTLUCK_TORCH_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# qemu 7 looks into the root for most system calls, but not for statx, with which Qt looks for its plug-ins.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L "${ARM_ROOT}"
  -E "QT_PLUGIN_PATH=${ARM_ROOT}/usr/lib/aarch64-linux-gnu/qt6/plugins")
set(QT_HOST_PATH /usr)
set(QT_HOST_PATH_CMAKE_DIR /usr/lib/x86_64-linux-gnu/cmake)
set(Qt6LinguistTools_DIR "${QT_HOST_PATH_CMAKE_DIR}/Qt6LinguistTools")  # nothing else finds a package of tools there
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${ARM_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${ARM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ARM_ROOT}/usr/share/pkgconfig")
