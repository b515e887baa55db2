#!/usr/bin/env bash
# Takes the transcripts of docs/debugging.md on a machine with a GPU and CUDA's tools, in less than a minute:
#
#   CGO_ENABLED=0 go build -trimpath -o .gpu/debugging ./examples/debugging    # here
#   bash examples/debugging/transcript.sh .gpu/debugging DIR                   # there, from the module's root
#
# It writes DIR/sanitizer.txt and DIR/ncu.txt and says whether they name the Go line. Without a tool it says so.
set -u
program=$1 out=$2
export GOTILE_LINES=1 GOTILE_CACHE=off
mkdir -p "$out"

# tool NAME prints where a tool of the toolkit is.
tool() {
  command -v "$1" && return
  local f
  for f in /usr/local/cuda*/bin/"$1" /usr/local/cuda*/compute-sanitizer/"$1" /opt/nvidia/nsight-compute/*/"$1"; do
    [ -x "$f" ] && echo "$f" && return
  done
  return 1
}

# line TEXT is the number of the line of main.go that has it.
line() { grep -n "$1" examples/debugging/main.go | cut -d: -f1; }

# shows FILE LINE says whether a transcript names a line of Go: as main.go:43, or as a row of main.go's page.
shows() {
  if grep -q "main.go:$2\b" "$1" || sed -n '/^File Path:.*main\.go/,$p' "$1" | grep -Eq "^$2 +x := tile.Load"; then
    echo "$1 names main.go:$2"
  else
    echo "$1 does NOT name main.go:$2"
  fi
}

if sanitizer=$(tool compute-sanitizer); then
  timeout 40 "$sanitizer" --tool memcheck --print-limit 2 --show-backtrace device "$program" -device cuda:0 >"$out/sanitizer.txt" 2>&1
  shows "$out/sanitizer.txt" "$(line 'so this may be anywhere')"
else
  echo "compute-sanitizer is not here"
fi
if ncu=$(tool ncu); then
  timeout 40 "$ncu" --section SourceCounters --import-source yes --source-folders "$PWD/examples/debugging" --page source --print-source cuda,sass \
    "$program" -right -device cuda:0 >"$out/ncu.txt" 2>&1
  shows "$out/ncu.txt" "$(line 'so this may be anywhere')"
else
  echo "ncu is not here"
fi
