#include "telemetry/store/run_store.hpp"

namespace rankscope {

SpanClass class_of(OpId op) {
  // An id from a newer writer may have a kind that this build does not know: it is drawn as "other".
  if (!op.valid()) return SpanClass::other;
  switch (op.kind()) {
    case OpKind::forward: return SpanClass::forward;
    case OpKind::backward:
    case OpKind::input_gradient: return SpanClass::backward;
    case OpKind::weight_gradient: return SpanClass::weight_gradient;
    case OpKind::recompute: return SpanClass::recompute;
    case OpKind::send:
    case OpKind::receive:
    case OpKind::copy: return SpanClass::transfer;
    case OpKind::broadcast:
    case OpKind::scatter:
    case OpKind::reduce:
    case OpKind::all_reduce:
    case OpKind::gather:
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
    case OpKind::all_to_all: return SpanClass::collective;
    case OpKind::optimizer: return SpanClass::optimizer;
    case OpKind::load_batch:
    case OpKind::checkpoint:
    case OpKind::check:
    case OpKind::compute: return SpanClass::other;
  }
  return SpanClass::other;
}

}  // namespace rankscope
