# What the set-up scripts share; sourced, not run.

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

# One line that says what is wrong, and the end.
fail() {
  say "$*"
  exit "${status:-1}"
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
  say "building build/$preset with $(nproc) cores (details: build/$preset.log)"
  (cd "$root" && cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}" -- -k 0) >>"$log" 2>&1 || {
    grep -E '^FAILED|error:|undefined reference|No space|Killed' "$log" | cut -c 1-300 | head -n 60 >&2
    fail "building build/$preset failed (above; all of it: $log)"
  }
}
