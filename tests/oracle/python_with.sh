# To be sourced. python_with MODULE …: prints the first python3 with these modules; status 1 if there is none.
# Debian's packages belong to Debian's python3, which may not be the first in PATH.
python_with() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c "$(printf 'import %s\n' "$@")" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}
