# Sourced by ci/test-newer and ci/in-root: root folders with other releases of Debian, for their drivers.
#
# They are made once, outside of the clone, from packages by name. What runs there sees the clone, the build's folder and
# /tmp at their own paths.

ROOTS=${PUMICE_CI_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/pumice-ci}

# as_root COMMAND…
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -E "$@"; fi
}

# newer_releases: those of Debian that are newer than this machine's; what is built here runs there, too.
newer_releases() {
    case $(. /etc/os-release && echo "${VERSION_CODENAME:-}") in
        bookworm) echo trixie sid ;;
        trixie) echo sid ;;
    esac
}

ROOT_PACKAGES="clang-22 gcc libc6-dev mesa-vulkan-drivers libvulkan1 ocl-icd-libopencl1 pocl-opencl-icd \
    spirv-tools vulkan-validationlayers"

# make_root SUITE: one that has these packages stays as it is.
make_root() {
    local suite=$1 root=$ROOTS/$1
    [ "$(cat "$root/packages" 2>/dev/null)" = "$ROOT_PACKAGES" ] && return 0
    install debootstrap
    say "Making a root folder of Debian's $suite"
    mkdir -p "$ROOTS"
    as_root rm -rf "$root"
    as_root debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" >"$ROOTS/$suite.log"
    # An archive that is a copy of some day's has lists past their date.
    echo 'Acquire::Check-Valid-Until "false";' | as_root tee "$root/etc/apt/apt.conf.d/90pumice" >/dev/null
    as_root cp /etc/resolv.conf /etc/hosts "$root/etc"
    enter "$suite" env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -qq && apt-get install -y -qq \
        --no-install-recommends $ROOT_PACKAGES && apt-get clean" >>"$ROOTS/$suite.log" 2>&1
    echo "$ROOT_PACKAGES" | as_root tee "$root/packages" >/dev/null
}

# lavapipe_of SUITE: the manifest of the driver there, as seen from inside.
lavapipe_of() {
    local found
    found=$(cd "$ROOTS/$1" && ls usr/share/vulkan/icd.d/lvp_icd*.json)
    echo "/$found"
}

# enter SUITE COMMAND…: runs it there. The mounts are gone when it ends.
enter() {
    local root=$ROOTS/$1
    shift
    as_root unshare --mount --propagation private bash -ec '
        root=$1 clone=$2 here=$3
        shift 3
        for folder in /proc /sys /dev /tmp "$clone"; do
            mkdir -p "$root$folder"
            mount --rbind "$folder" "$root$folder"
        done
        exec chroot "$root" bash -c '\''cd "$0" 2>/dev/null || cd /; exec "$@"'\'' "$here" "$@"
    ' enter "$root" "$ROOT" "$PWD" "$@"
}
