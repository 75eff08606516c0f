#!/bin/sh
# The loops of each instruction set must define no function that other code could share: an inline function compiled for
# AVX-512 could be the only copy that the linker keeps, and would crash on an older machine.
# Usage: no_shared_inlines.sh NM OBJECT...
nm=$1
shift
[ $# -ge 3 ] || { echo "no objects to look at"; exit 1; }
found=$("$nm" -C --defined-only "$@" | grep -E ' [WVu] ' |
  grep -vE 'rankscope::kernels::cpu::v[234]::|DW\.ref\.__gxx_personality|__asan|__odr_asan|__tsan|__ubsan')
[ -z "$found" ] || { echo "shared between instruction sets:"; echo "$found"; exit 1; }
