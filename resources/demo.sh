#!/usr/bin/env bash
# Installs missing packages, builds, trains the default lab with four real ranks and opens the window on it. Without a
# display (or with --no-window) it prints a summary of the run and writes the recording and a picture of each view.
#   bash resources/demo.sh [--no-window] [SCENARIO]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=resources/setup/common.sh
source "$root/resources/setup/common.sh"

has_display=false
[[ -z ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] || has_display=true
lab=$root/scenarios/labs/pipeline-1f1b.toml
for word in "$@"; do
  case $word in
    --no-window) has_display=false ;;
    -*) status=2 fail "unknown option $word; known: --no-window" ;;
    *) lab=$word ;;
  esac
done
[[ -f $lab ]] || status=2 fail "no such scenario: $lab; the labs are in $root/scenarios/labs"
lab=$(cd "$(dirname "$lab")" && pwd)/$(basename "$lab")

bash "$root/resources/setup/install.sh"
bash "$root/resources/setup/cudnn.sh"
build demo
bin=$root/build/demo/bin
for program in rankscope rankscope-engine; do
  [[ -x $bin/$program ]] || fail "the build did not produce $program (expected $bin/$program)"
done

if $has_display; then
  say "opening the window; next time without this script: $bin/rankscope $lab --run"
  exec "$bin/rankscope" "$lab" --run
fi

result=$root/build/demo/result
recording=$result/$(basename "$lab" .toml).mcap
mkdir -p "$result"
prediction=$result/predicted.mcap
rm -f "$recording" "$prediction"
say "no display: training, then drawing into $result"
"$bin/rankscope-engine" run "$lab" --record "$recording"
"$bin/rankscope-engine" simulate "$lab" --here --record "$prediction" >"$result/predicted.txt"

export QT_QPA_PLATFORM=offscreen
"$bin/rankscope" "$recording" --screenshot "$result/window.png" --size 1920x1080
views=(timeline memory range collectives scaling training paths grid hang plan)
draw() {
  local view
  for view in "${views[@]}"; do
    "$bin/rankscope" "$recording" --screenshot "$result/$view.png" --view "$view" --size 1280x800
  done
  "$bin/rankscope" "$recording" --compare "$prediction" --screenshot "$result/compare.png" --view compare --size 1280x800
  "$bin/rankscope" "$lab" --screenshot "$result/lab.png" --view lab --size 1280x800
}
count_drawn() { echo "$(find "$result" -name '*.png' -newer "$recording" | wc -l) $((${#views[@]} + 3))"; }
with_progress "drawing" count_drawn draw
say "recording and pictures:"
ls -1 "$result"
