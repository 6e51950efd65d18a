# Sourced: sets up a build with clang, whose sanitizer builds compile in a third of the time of GCC's.

find_clang() {
    local name
    for name in clang++ clang++-{21..14}; do command -v "$name" && return 0; done
    return 1
}

configure_with_clang() {  # configure_with_clang PRESET
    local compiler log="build/$1-configure.log"
    mkdir -p build
    compiler="$(find_clang)" || {
        echo "needs clang 14 or newer: install clang-14 and libclang-rt-14-dev, or clang" >&2
        return 1
    }
    cmake --preset "$1" "-DCMAKE_CXX_COMPILER=$compiler" >"$log" 2>&1 || {
        tail -n 30 "$log" >&2
        echo "configuring failed; the whole log is in $log" >&2
        return 1
    }
}
