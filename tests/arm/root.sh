# A root of ARM64 packages, and what is compiled against it, for the scripts beside this one, which source it.
#
# In the root nothing runs but libraries, so packages are only unpacked. dpkg's database of them is written all the same:
# it tells which package a library is of. DEBIAN/ holds what the libraries say about themselves, as in a package's build
# tree, which is where dpkg-shlibdeps looks for it (-S).

source tests/fresh/root.sh

say() { printf 'arm: %s\n' "$*"; }
fail() { printf 'arm: %s\n' "$*" >&2; exit 1; }
skip() { printf 'arm: skipped, because %s.\n' "$*" >&2; exit 77; }

arm_packages=(base-files libc6-dev libstdc++-12-dev libgcc-12-dev linux-libc-dev qt6-base-dev qt6-svg-dev libxcb1-dev
    libqrencode-dev libtorrent-rasterbar-dev libboost-dev libboost-filesystem-dev libboost-system-dev libssl-dev
    libsodium-dev libsqlite3-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libfmt-dev libsentencepiece-dev
    libpcre2-dev libutf8proc-dev libarchive-dev libcurl4-openssl-dev libpng-dev zlib1g-dev)

need_tools() {  # need_tools TOOL...: beside the cross compiler and qemu
    local tool
    for tool in aarch64-linux-gnu-g++ qemu-aarch64-static "$@"; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
}

unpack_packages() {  # unpack_packages ROOT OPTION...: those that the options of mmdebstrap name
    local root="$1"
    shift
    need_root
    rm -rf "$root"
    make_root "$root" --architectures=arm64 --variant=extract "$@"
}

record_packages() {  # record_packages ROOT: the packages in apt's cache, which go with that
    local database="$1/var/lib/dpkg" said="$1/DEBIAN.part" file name part control
    control="$(mktemp -d)"
    mkdir "$said"
    echo 1 >"$database/info/format"  # the architecture is part of a list's name
    for file in "$1"/var/cache/apt/archives/*.deb; do
        dpkg-deb --control "$file" "$control"
        name="$(dpkg-deb -f "$file" Package)"
        if [ "$(dpkg-deb -f "$file" Multi-Arch)" = same ]; then name+=":arm64"; fi
        { cat "$control/control" && printf 'Status: install ok installed\n\n'; } >>"$database/status"
        dpkg-deb --fsys-tarfile "$file" | tar -t | sed 's,^\.,,; s,\(.\)/$,\1,; s,^/$,/.,' >"$database/info/$name.list"
        for part in symbols shlibs; do
            if [ -e "$control/$part" ]; then cat "$control/$part" >>"$said/$part"; fi
        done
        rm -rf "$control" "$file"
    done
    mv "$said" "$1/DEBIAN"
}

make_arm_root() {  # make_arm_root ROOT: unless it is there; with what `dev` installs for x86-64
    local root="$1" link target
    if [ -e "$root/DEBIAN" ]; then return; fi
    unpack_packages "$root" --skip=cleanup/apt/cache "--include=$(IFS=,; echo "${arm_packages[*]}")"
    # Links from the top of the root would lead out of it.
    find "$root/usr/lib/aarch64-linux-gnu" -type l -lname '/*' -printf '%p\n%l\n' | while read -r link && read -r target; do
        ln -srf "$root$target" "$link"
    done
    write_processor "$root"
    record_packages "$root"
    say "a root of ARM64 packages is made after $SECONDS s"
}

# LibTorch looks there for the kind of processor. qemu 7 shows what the kernel says, which is of x86-64, unless the root
# has such a file.
write_processor() {  # write_processor ROOT
    local i
    mkdir -p "$1/proc"
    for ((i = 0; i < $(nproc); ++i)); do
        printf 'processor\t: %d\nFeatures\t: fp asimd aes pmull sha1 sha2 crc32 atomics asimdrdm asimddp\n' "$i"
        printf 'CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n'
    done >"$1/proc/cpuinfo"
}

configure() {  # configure BUILD ROOT OPTION...
    local build="$1" root="$2"
    shift 2
    mkdir -p "$build"
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPOTLUCK_CUDA=OFF "$@" \
        -DCMAKE_TOOLCHAIN_FILE="$PWD/tests/arm/toolchain.cmake" "-DARM_ROOT=$root" >"$build-configure.log" ||
        { tail -n 30 "$build-configure.log" >&2; fail "configuring failed"; }
}

build() {  # build FOLDER TARGET...
    local folder="$1"
    shift
    cmake --build "$folder" --target "$@" -- ${POTLUCK_JOBS:+-j "$POTLUCK_JOBS"} >"$folder-build.log" ||
        { grep -A20 'FAILED' "$folder-build.log" | head -n 60 >&2; fail "building failed; $folder-build.log has the rest"; }
}

emulate() {  # emulate ROOT SCRIPT PROGRAM: writes a script that runs the program under qemu with the root's libraries
    printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s" -E "QT_PLUGIN_PATH=%s" "%s" "$@"\n' "$1" \
        "$1/usr/lib/aarch64-linux-gnu/qt6/plugins" "$3" >"$2"
    chmod +x "$2"
}
