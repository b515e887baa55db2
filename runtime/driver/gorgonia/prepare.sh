#!/usr/bin/env bash
# Prepares a machine without a CUDA toolkit for builds with -tags gorgonia.
#
#   prepare.sh DIR                         with the headers of CUDA 13.0
#   prepare.sh DIR REQUIREMENT             with those of another version, as pip names it:
#                                          nvidia-cuda-runtime-cu12==12.9.79, nvidia-cuda-runtime, ...
#   prepare.sh -I INCLUDE DIR              with those of a toolkit: INCLUDE holds cuda.h
#
# It fills DIR, which should be one that git ignores, and prints the variables of cgo for the shell:
#
#   eval "$(runtime/driver/gorgonia/prepare.sh .cuda)"
#   go build -tags gorgonia ./...
#
# In DIR:
#   include/               cuda.h and what it includes, from pip (with -I: not made)
#   shim/cuda.h            what gorgonia.org/cu misses in the headers of CUDA 13
#   lib/libcuda.so         a stub to link with: each function of cuda.h, all of which fail. Programs that are linked with
#                          it look for libcuda.so.1, the driver's, where they run
#   loopback/libcuda.so.1  for tests without a GPU: LD_LIBRARY_PATH=DIR/loopback go test -tags gorgonia ...
#   env                    what is printed
#
# Needs a C compiler ($CC, else cc), and without -I Python with pip ($PYTHON, else python3).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "prepare.sh: $*" >&2; exit 1; }
usage() { sed -n '2,/^set/{/^#/!d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }

include=
if [ "${1:-}" = -I ]; then
  [ $# = 3 ] || usage
  include=$2
  shift 2
  [ -f "$include/cuda.h" ] || fail "$include has no cuda.h"
  include=$(cd "$include" && pwd)
fi
case $# in 1 | 2) ;; *) usage ;; esac
case $1 in -*) usage ;; esac
mkdir -p "$1"
dir=$(cd "$1" && pwd)
requirement=${2:-nvidia-cuda-runtime==13.0.*}
[[ $dir$include != *[[:space:]\'\"]* ]] || fail "$dir: cgo's variables take no blanks and quotes in a path; use another directory"
cc=${CC:-cc}
command -v "$cc" >/dev/null || fail "no C compiler: install gcc (Debian: apt-get install gcc), or set CC"

if [ -z "$include" ]; then
  include=$dir/include
  if [ "$(cat "$include/.requirement" 2>/dev/null)" != "$requirement" ]; then
    python=${PYTHON:-python3}
    "$python" -m pip --version >/dev/null 2>&1 || fail "no pip in $python: install it (Debian: apt-get install python3-pip), set PYTHON, or name a toolkit's headers with -I"
    rm -rf "$dir/wheel" "$include"
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$dir/wheel" "$requirement" >&2
    found=$(find "$dir/wheel" -path '*/include/cuda.h')
    [ -n "$found" ] || fail "$requirement holds no include/cuda.h"
    mv "$(dirname "$found")" "$include"
    rm -rf "$dir/wheel"
    echo "$requirement" >"$include/.requirement"
  fi
fi

rm -rf "$dir/shim" "$dir/lib" "$dir/loopback"
mkdir -p "$dir/shim" "$dir/lib" "$dir/loopback"
cp "$here/shim/cuda.h" "$dir/shim/cuda.h"

# Weak, so that the stand-in's own functions take their place there. 34 is CUDA_ERROR_STUB_LIBRARY.
echo '#include <cuda.h>' | "$cc" -E -P -I"$dir/shim" -I"$include" -xc - | tr -s '[:space:]' ' ' |
  grep -oE 'CUresult cu[A-Z][A-Za-z0-9_]* ?\(' | sed -E 's/^CUresult ([A-Za-z0-9_]*).*/\1/' | LC_ALL=C sort -u |
  sed 's/.*/__attribute__((weak)) int &(void) { return 34; }/' >"$dir/lib/stub.c"
functions=$(wc -l <"$dir/lib/stub.c")
[ "$functions" -gt 300 ] || fail "cuda.h in $include declares $functions functions; the driver has more than 300"
"$cc" -shared -fPIC -O1 -Wl,-soname,libcuda.so.1 -o "$dir/lib/libcuda.so" "$dir/lib/stub.c"
"$cc" -shared -fPIC -O1 -Wl,-soname,libcuda.so.1 -o "$dir/loopback/libcuda.so.1" "$dir/lib/stub.c" "$here/../drivertest/testdata/loopback.c"

version=$(sed -n 's/^#define CUDA_VERSION *\([0-9]*\).*/\1/p' "$include/cuda.h")
echo "prepare.sh: CUDA $((version / 1000)).$((version % 1000 / 10)), $functions functions" >&2
tee "$dir/env" <<END
export CGO_ENABLED=1
export CGO_CFLAGS='-O2 -g -I$dir/shim -I$include'
export CGO_LDFLAGS='-O2 -g -L$dir/lib'
END
