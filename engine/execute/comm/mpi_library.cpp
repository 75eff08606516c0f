// The eight collectives by MPI's own functions.
#include <fmt/format.h>

#include <climits>
#include <stdexcept>

#include "engine/execute/comm/mpi_communicator.hpp"
#include "engine/op/words.hpp"

namespace rankscope::comm {

namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 30;  // of one call: MPI counts with int

// Calls `start` on pieces of a tensor that MPI can count.
template <class Start>
void in_pieces(const View& tensor, std::vector<MPI_Request>& requests, Start start) {
  for (std::int64_t at = 0; at < tensor.elements(); at += most_elements) {
    MPI_Request request = MPI_REQUEST_NULL;
    start(tensor.as<std::byte>() + at * bytes_of(tensor.type),
          static_cast<int>(std::min(most_elements, tensor.elements() - at)), &request);
    requests.push_back(request);
  }
}

}  // namespace

void MpiCommunicator::start_library(const CollectiveCall& call, std::vector<MPI_Request>& requests) {
  const MpiElement& element = process_->element(call.whole.data ? call.whole.type : call.part.type);
  const bool is_root = index() == call.root;
  void* const place = MPI_IN_PLACE;  // MPI's marker for in-place operation

  if (call.kind == OpKind::broadcast)
    return in_pieces(call.whole, requests, [&](void* data, int count, MPI_Request* request) {
      check("MPI_Ibcast", MPI_Ibcast(data, count, element.type, call.root, comm_, request));
    });
  if (call.kind == OpKind::reduce)
    return in_pieces(call.whole, requests, [&](void* data, int count, MPI_Request* request) {
      check("MPI_Ireduce", MPI_Ireduce(is_root ? place : data, is_root ? data : nullptr, count, element.type,
                                       element.sum, call.root, comm_, request));
    });
  if (call.kind == OpKind::all_reduce)
    return in_pieces(call.whole, requests, [&](void* data, int count, MPI_Request* request) {
      check("MPI_Iallreduce", MPI_Iallreduce(place, data, count, element.type, element.sum, comm_, request));
    });

  const std::int64_t elements = call.kind == OpKind::all_to_all ? call.part.elements() / size() : call.part.elements();
  if (elements == 0) return;
  if (elements > most_elements)
    throw CommError(fmt::format("rank {}: {} of {} a part is more than MPI counts; use the algorithm \"ring\"",
                                setting().rank(), call_name(call.kind), counted(elements, "element")));
  const int count = static_cast<int>(elements);
  void* const part = call.part.data;
  void* const whole = call.whole.data;
  const bool in_place = whole != nullptr && part == part_in(call.whole, call.part, index());
  MPI_Request request = MPI_REQUEST_NULL;
  if (call.kind == OpKind::scatter)
    check("MPI_Iscatter", MPI_Iscatter(whole, count, element.type, is_root && in_place ? place : part, count,
                                       element.type, call.root, comm_, &request));
  else if (call.kind == OpKind::gather)
    check("MPI_Igather", MPI_Igather(is_root && in_place ? place : part, count, element.type, whole, count,
                                     element.type, call.root, comm_, &request));
  else if (call.kind == OpKind::all_gather)
    check("MPI_Iallgather",
          MPI_Iallgather(in_place ? place : part, count, element.type, whole, count, element.type, comm_, &request));
  else if (call.kind == OpKind::reduce_scatter)  // in place MPI leaves the part at the beginning of `whole`
    check("MPI_Ireduce_scatter_block", MPI_Ireduce_scatter_block(in_place ? place : whole, in_place ? whole : part,
                                                                 count, element.type, element.sum, comm_, &request));
  else if (call.kind == OpKind::all_to_all)
    check("MPI_Ialltoall", MPI_Ialltoall(whole, count, element.type, part, count, element.type, comm_, &request));
  else
    throw std::logic_error(fmt::format("mpi has no {}", call_name(call.kind)));
  requests.push_back(request);
}

}  // namespace rankscope::comm
