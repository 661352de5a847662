# Shared by the scripts: the repository's root, the packages, the build. Sourced.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"

# The compiler cache hits across checkouts in different folders.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1

# Debian 12 packages that a build needs; installed when missing (as root, or through sudo).
packages=(g++ cmake ninja-build pkg-config ccache libabsl-dev libboost-dev libeigen3-dev libprotobuf-dev libonnx-dev
          libonnx-testdata libgtest-dev libgmock-dev libbenchmark-dev nlohmann-json3-dev libedit-dev)

install_packages() {
  local missing=() p
  for p in "${packages[@]}" "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q "install ok installed" || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "installing: ${missing[*]}"
  local sudo=""
  [ "$(id -u)" -eq 0 ] || sudo="sudo"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Configures build/PRESET once and builds the targets given (all when none). An up-to-date tree compiles nothing.
build() {
  local preset=$1
  shift
  if [ ! -f "build/$preset/build.ninja" ]; then
    cmake --preset "$preset" >"build-$preset.log" 2>&1 || { cat "build-$preset.log"; exit 1; }
    mkdir -p build && mv "build-$preset.log" "build/$preset/configure.log"
  fi
  cmake --build --preset "$preset" -- ${NINJA_FLAGS:-} "$@"
}

# Takes one npm package into DIR (unpacked as DIR/package); false when the registry cannot be had.
npm_pack() {
  local package=$1 dir=$2
  [ -d "$dir/package" ] && return 0
  command -v npm >/dev/null || return 1
  mkdir -p "$dir"
  (cd "$dir" && file=$(npm pack --silent "$package" 2>/dev/null | tail -n 1) && [ -n "$file" ] && tar xzf "$file" && rm -f "$file") || return 1
  [ -d "$dir/package" ]
}
