# Bare Debian roots, for the scripts beside this one, which source it.

readonly suite=bookworm

say() { printf 'fresh: %s\n' "$*"; }
fail() { printf 'fresh: %s\n' "$*" >&2; exit 1; }
skip() { printf 'fresh: skipped, because %s.\n' "$*" >&2; exit 77; }

minutes() {  # minutes SECONDS: with one decimal
    printf '%d.%d min' $(($1 / 60)) $(($1 % 60 / 6))
}

need_root() {
    [ "$(id -u)" = 0 ] || skip "making a Debian root needs root"
    command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
}

new_folder() {  # prints a new folder, which everybody may enter
    local folder
    folder="$(mktemp -d -p "${TMPDIR:-/var/tmp}" potluck-fresh.XXXXXX)"
    chmod 755 "$folder"
    echo "$folder"
}

make_root() {  # make_root FOLDER [OPTION...]: from the sources that apt knows here, if they have the suite
    local root="$1" file sources=() options=()
    shift
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] && grep -qE "^(deb |Suites:).*\b$suite\b" "$file" && sources+=("$file")
    done
    # Only files about downloading: hooks of packages that are not inside have no business there.
    for file in $(grep -ls '^Acquire::' /etc/apt/apt.conf /etc/apt/apt.conf.d/* || true); do options+=("--aptopt=$file"); done
    mmdebstrap --quiet --variant=minbase ${options[@]+"${options[@]}"} "$@" "$suite" "$root" ${sources[@]+"${sources[@]}"}
}

copy_settings() {  # copy_settings ROOT: names, certificates, pip's settings
    local root="$1" file
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    cp -a /etc/apt/auth.conf.d/. "$root/etc/apt/auth.conf.d/" 2>/dev/null || true
    # The package ca-certificates writes its own bundle when it is installed and adds what lies here.
    mkdir -p "$root/usr/local/share/ca-certificates" "$root/etc/ssl/certs"
    for file in /usr/local/share/ca-certificates/*.crt; do
        [ -f "$file" ] && cp -L "$file" "$root/usr/local/share/ca-certificates/"
    done
    [ -f /etc/ssl/certs/ca-certificates.crt ] && cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    # Environment, user and system settings become one system file.
    { python3 -m pip config list 2>/dev/null || true; } | python3 -c '
import re, sys
values = {}
for line in sys.stdin:
    found = re.match(r"(\S+?)\.([a-z0-9-]+)=\x27(.*)\x27$", line.rstrip())
    if found:
        section, key, value = found.groups()
        if section == ":env:" or ("global", key) not in values:
            values["global" if section == ":env:" else section, key] = value
for section in sorted({section for section, _ in values}):
    print(f"[{section}]")
    for (of, key), value in values.items():
        if of == section:
            print(f"{key} = {value}")
' >"$root/etc/pip.conf"
}

in_root() {  # in_root COMMAND...: as root of the folder $root, with a proxy, if there is one
    local name proxies=()
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
    done
    chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
        ${proxies[@]+"${proxies[@]}"} "$@"
}

until_true() {  # until_true SECONDS COMMAND...
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.5
    done
}

colours() {  # colours FILE: how many different pixels a screen shows (an XWD file, whose header tells its own length)
    python3 - "$1" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
header, = struct.unpack(">I", data[:4])
colour_count, = struct.unpack(">I", data[76:80])
pixels = data[header + 12 * colour_count:]
print(len({pixels[at:at + 4] for at in range(0, len(pixels) - 3, 4)}))
PYTHON
}

screen_is_painted() { [ "$(colours "$1")" -gt 50 ]; }  # an empty screen has one colour

snapshot_says() {  # snapshot_says PYTHON-EXPRESSION of `s`, the snapshot that comes in
    python3 -c "
import json, sys
try: s = json.load(sys.stdin)
except ValueError: sys.exit(1)
sys.exit(not ($1))"
}

build_container() {  # build_container CONTAINERFILE NAME: of this checkout, where that can be done; the image goes again
    local tool
    for tool in buildah podman; do
        command -v "$tool" >/dev/null || continue
        if ! "$tool" pull -q docker.io/library/debian:12-slim >/dev/null 2>&1; then
            say "the container is not built, because its first image cannot be fetched here"
            return
        fi
        "$tool" build -q -f "$1" -t "$2" "$source_folder" >/dev/null || fail "the container cannot be built"
        "$tool" rmi -f "$2" >/dev/null
        say "the container is built by $tool"
        return
    done
    say "the container is not built, because neither buildah nor podman is installed"
}
