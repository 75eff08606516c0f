#!/usr/bin/env bash
# Draws pictures of every view, for a person to look at: bash tests/app/pictures.sh [BIN_FOLDER [OUT_FOLDER]]
#
# Four runs (a pipeline; data and pipeline; a ring all-reduce; asynchronous parameter servers) and a plan of 64 ranks
# that did not run; each view alone in both themes and at two sizes, the whole window, and every view as it is presented
# to a class. RUNS, VIEWS, SIZES and THEMES select some of them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${1:-$root/build/release/bin}
out=${2:-$(mktemp -d)}
mkdir -p "$out"
labs=$root/scenarios/labs

declare -A made=(
  [pipeline]="pipeline-1f1b.toml --steps 30"
  [grid]="pipeline-1f1b.toml --set plan.data=2 --set plan.pipeline=2 --steps 30"
  [ring]="data-parallel.toml --set plan.collective=ring --steps 30"
  [servers]="parameter-server.toml --set plan.staleness=2 --steps 30"
)
cat > "$out/wide.toml" << 'TOML'
title = "64 ranks: tensor 4, data 2, pipeline 8"
[model]
layers = 16
width = 128
heads = 4
context = 64
vocabulary = 256
[plan]
tensor = 4
data = 2
pipeline = 8
micro_batches = 8
[train]
global_batch = 32
TOML

draw() { # NAME SOURCE FURTHER…
  local name=$1 source=$2
  shift 2
  "$bin/rankscope" "$source" --screenshot "$out/$name" "$@" || echo "not drawn: $name" >&2
}
for run in ${RUNS:-pipeline grid ring servers wide}; do
  source=$out/$run.mcap
  if [ "$run" = wide ]; then
    source=$out/wide.toml
  elif [ ! -e "$source" ]; then
    # shellcheck disable=SC2086
    "$bin/rankscope-engine" run "$labs"/${made[$run]} --record "$source" > "$out/$run.log"
  fi
  for theme in ${THEMES:-light dark}; do
    for size in ${SIZES:-1280x800 1920x1080}; do
      for view in ${VIEWS:-window timeline memory range collectives training scaling search roofline paths validation grid topology program hang compare plan lab}; do
        alone=()
        [ "$view" = window ] || alone=(--view "$view")
        draw "$run-$view-$theme-$size.png" "$source" --theme "$theme" --size "$size" "${alone[@]}"
      done
    done
    for view in ${VIEWS:-timeline memory range collectives training scaling search roofline paths validation grid topology program hang compare}; do
      case $view in window | plan | lab) continue ;; esac
      draw "$run-$view-$theme-presented.png" "$source" --theme "$theme" --size 1920x1080 --view "$view" --presentation
    done
  done
done
echo "$out"
