# Sourced by ci/test-newer and ci/on-mesa: drivers of newer releases of Debian, for programs that were built here.
#
# A folder with the packages of a driver, unpacked and nothing else, is made once, outside of the clone. Nothing in it is
# run but a program of ours, of which a copy is told to take the loader and the libraries there: no mounts, no other root
# and no rights are needed, so that it works in a container, too.

MESAS=${PUMICE_CI_MESAS:-${XDG_CACHE_HOME:-$HOME/.cache}/pumice-ci}

# newer_releases: those of Debian that are newer than this machine's.
newer_releases() {
    case $(. /etc/os-release && echo "${VERSION_CODENAME:-}") in
        bookworm) echo trixie sid ;;
        trixie) echo sid ;;
    esac
}

DRIVER_PACKAGES="mesa-vulkan-drivers libvulkan1 vulkan-validationlayers ocl-icd-libopencl1"
LIBRARIES=usr/lib/x86_64-linux-gnu

# make_mesa SUITE: one that has these packages stays as it is. Fails where the packages can't be fetched.
make_mesa() {
    local suite=$1 folder=$MESAS/$1 manifest
    [ "$(cat "$folder/packages" 2>/dev/null)" = "$DRIVER_PACKAGES" ] && return 0
    install mmdebstrap patchelf || return 1
    say "Unpacking the drivers of Debian's $suite"
    mkdir -p "$MESAS"
    rm -rf "$folder"
    # An archive that is a copy of some day's has lists past their date.
    mmdebstrap --quiet --mode=chrootless --skip=check/chrootless --variant=extract --include="${DRIVER_PACKAGES// /,}" \
        --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$folder" || return 1
    manifest=$(echo "$folder"/usr/share/vulkan/icd.d/lvp_icd*.json)
    sed "s|\"libvulkan_lvp.so\"|\"$folder/$LIBRARIES/libvulkan_lvp.so\"|" "$manifest" >"$folder/lavapipe.json"
    forget_search_paths "$folder/$LIBRARIES"
    echo "$DRIVER_PACKAGES" >"$folder/packages"
}

# forget_search_paths FOLDER: a library that says where to look for others hides from them where its program says so.
forget_search_paths() {
    local library
    for library in "$1"/*.so*; do
        [ -f "$library" ] && [ ! -L "$library" ] || continue
        readelf -d "$library" 2>/dev/null | grep -q '(RUNPATH)' && patchelf --remove-rpath "$library"
    done
    return 0
}

# lavapipe_of SUITE: the manifest of the driver there.
lavapipe_of() { echo "$MESAS/$1/lavapipe.json"; }

# version_of_mesa SUITE: as the driver says it.
version_of_mesa() {
    zcat "$MESAS/$1/usr/share/doc/mesa-vulkan-drivers/changelog.Debian.gz" | sed -n '1s/^mesa (\(.*\)) .*/\1/p'
}

# run_on_mesa SUITE PROGRAM [ARGUMENT…]: runs a program of the build with the libraries there.
run_on_mesa() {
    local suite=$1 folder=$MESAS/$1 program=$2 copy=$2.$1
    shift 2
    # Beside the program, where its tests look for libpumice.so.
    if [ ! "$copy" -nt "$program" ]; then
        cp "$program" "$copy"
        patchelf --set-interpreter "$folder/$LIBRARIES/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$folder/$LIBRARIES" "$copy"
    fi
    VK_LAYER_PATH=$folder/usr/share/vulkan/explicit_layer.d${VK_LAYER_PATH:+:$VK_LAYER_PATH} exec "$copy" "$@"
}
