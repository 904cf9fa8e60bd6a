# Sourced by ci/demo and ci/test: installs what is missing on a machine with Debian 12 or later and Rust.
# Everything comes from packages by name; nothing is kept outside the package managers, .cache/ and the folder of ci/mesas.sh.

export DEBIAN_FRONTEND=noninteractive
ROOT=$(git rev-parse --show-toplevel 2>/dev/null || (cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd))
cd "$ROOT"

# Debian 12's name; later ones leave the architecture out (see install_base).
LAVAPIPE=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
SWIFTSHADER=$ROOT/.cache/swiftshader/vk_swiftshader_icd.json
# The newest that npm has; the other one is what everything has been tried on.
NEWEST_SWIFTSHADER=$ROOT/.cache/swiftshader-153/vk_swiftshader_icd.json
# libclc for OpenCL as SPIR-V; later packages than 22 have none.
LIBCLC=/usr/lib/clc/spirv64-mesa3d-.spv

# say TEXT: a heading, with the minutes since the first of these scripts began.
export PUMICE_CI_BEGAN=${PUMICE_CI_BEGAN:-$(date +%s)}
say() { printf '\n\033[1m== %s\033[0m  (%d min)\n' "$*" $((($(date +%s) - PUMICE_CI_BEGAN) / 60)); }

# install PACKAGE…: only those that are missing, so that a second run touches nothing.
install() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing ${missing[*]}"
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# What the driver itself and its demonstration need.
install_base() {
    install ca-certificates gcc libc6-dev libvulkan1 mesa-vulkan-drivers clang-22 ocl-icd-libopencl1 clinfo clpeak
    [ -f "$LIBCLC" ] || install "$(first_available libclc-15 libclc-19 libclc-22)"
    [ -f "$LAVAPIPE" ] || LAVAPIPE=/usr/share/vulkan/icd.d/lvp_icd.json
    [ -f "$LAVAPIPE" ] || { echo "There is no $LAVAPIPE." >&2; return 1; }
}

# first_available PACKAGE…: the first that this release of Debian has.
first_available() {
    local package
    for package in "$@"; do
        apt-cache show "$package" >/dev/null 2>&1 && break
    done
    echo "$package"
}

# What the tests need.
install_test() {
    install_base
    install spirv-tools vulkan-validationlayers brotli pocl-opencl-icd g++ opencl-c-headers csmith
    install_swiftshader "$SWIFTSHADER" 147.0.0
    install_swiftshader "$NEWEST_SWIFTSHADER" 153.0.0
}

# install_swiftshader MANIFEST VERSION: SwiftShader comes inside an npm package; nothing of that package is run.
install_swiftshader() {
    local manifest=$1 version=$2 into=${1%/*} work
    [ -f "$manifest" ] && return 0
    command -v npm >/dev/null || install npm
    say "Unpacking the SwiftShader of $version"
    work=$(mktemp -d)
    mkdir -p "$into"
    (cd "$work" && npm pack --silent "@sparticuz/chromium@$version" >/dev/null && tar xzf ./*.tgz package/bin/swiftshader.tar.br)
    brotli -dc "$work/package/bin/swiftshader.tar.br" | tar xf - -C "$into"
    rm -rf "$work"
    cat >"$manifest" <<JSON
{ "file_format_version": "1.0.0",
  "ICD": { "library_path": "$into/libvk_swiftshader.so", "api_version": "1.3.0" } }
JSON
}

# on_driver MANIFEST COMMAND…: runs the command with that Vulkan driver alone.
on_driver() {
    local manifest=$1
    shift
    VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest "$@"
}
