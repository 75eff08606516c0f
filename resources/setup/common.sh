# Functions that the set-up scripts share; to be sourced, not run.

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

# Prints one line that says what is wrong, and exits.
fail() {
  say "$*"
  exit "${status:-1}"
}

# The progress of a program that others wait for: until it is ended, `show_progress TITLE COUNT` calls COUNT, which
# prints "DONE TOTAL" (or nothing while that is unknown), and writes the progress and the remaining time. If standard
# error is a terminal, this is one line, rewritten in place, from the second second on; otherwise a line per minute.
show_progress() {
  local title=$1 count=$2 owner=$$ begin=$SECONDS next=2 every=1 last='' done='' total='' text passed
  [[ -t 2 ]] || next=60 every=60
  trap 'if [[ -n $last && -t 2 ]]; then printf "\r\033[K" >&2; fi; exit 0' TERM
  while kill -0 "$owner" 2>/dev/null; do
    sleep 1
    passed=$((SECONDS - begin))
    [[ $passed -ge $next ]] || continue
    next=$((passed + every))
    read -r done total < <("$count") || true
    text="$title, $passed s so far"
    if [[ -n $total && $total -gt 0 ]]; then
      text="$title, $done of $total"
      if [[ $done -gt 0 ]]; then text+=", about $((passed * (total - done) / done)) s left"; fi
    fi
    last=$text
    if [[ -t 2 ]]; then printf '\r%s\033[K' "${text:0:$((${COLUMNS:-80} - 1))}" >&2; else say "$text"; fi
  done
}

# Runs a command, shows its progress and returns its status: with_progress TITLE COUNT COMMAND…
with_progress() {
  local title=$1 count=$2 follower status=0
  shift 2
  show_progress "$title" "$count" &
  follower=$!
  "$@" || status=$?
  kill "$follower" 2>/dev/null || true
  wait "$follower" 2>/dev/null || true
  return "$status"
}

# "DONE TOTAL" of the last "[DONE/TOTAL]" that ninja has written to $log.
count_steps() { tr '\r' '\n' <"$log" | sed -n 's|^\[\([0-9]*\)/\([0-9]*\)\].*|\1 \2|p' | tail -n 1; }

# How many files are compiled at once: one on each core, if there is twice the memory that the largest was seen to need.
count_jobs() {
  local largest=1300000 free cores  # KiB
  cores=$(nproc)
  free=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  echo $((free / largest < 1 ? 1 : free / largest < cores ? free / largest : cores))
}

# Configures a preset and builds targets of it (none: all) in build/PRESET of the repository. The compiler's output is
# shown only when something fails.
#   build PRESET [-D…]… [TARGET…]
build() {
  local preset=$1 log
  shift
  local definitions=() targets=()
  for word in "$@"; do
    if [[ $word == -D* ]]; then definitions+=("$word"); else targets+=(--target "$word"); fi
  done
  mkdir -p "$root/build"
  log=$root/build/$preset.log
  say "configuring build/$preset"
  (cd "$root" && cmake --preset "$preset" "${definitions[@]}") >"$log" 2>&1 || {
    cat "$log" >&2
    fail "configuring build/$preset failed (above)"
  }
  local jobs
  jobs=$(count_jobs)
  say "building build/$preset with $jobs at a time (details: build/$preset.log)"
  compile() { (cd "$root" && cmake --build --preset "$preset" --parallel "$jobs" "${targets[@]}" -- -k 0) >>"$log" 2>&1; }
  with_progress "building build/$preset" count_steps compile || {
    grep -E '^FAILED|error:|undefined reference|No space|Killed' "$log" | cut -c 1-300 | head -n 60 >&2
    fail "building build/$preset failed (above; full log: $log)"
  }
}
