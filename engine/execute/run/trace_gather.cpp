#include "engine/execute/run/trace_gather.hpp"

#include <cstring>

#include "engine/base/host/threads.hpp"

namespace rankscope {
namespace {

void put(std::string& text, std::int64_t value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); }
std::int64_t take(const char*& at) {
  std::int64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

// All processes are this program on machines of one byte order, so values are sent as they are in memory.
std::string packed(const StepTrace& trace) {
  std::string text;
  put(text, trace.resident.workspace);
  put(text, trace.resident.host_workspace);
  put(text, trace.resident.context);
  put(text, static_cast<std::int64_t>(trace.cpu_ns.size()));
  for (const std::int64_t cost : trace.cpu_ns) put(text, cost);
  for (const auto& lane : trace.executed) {
    put(text, static_cast<std::int64_t>(lane.size()));
    for (const OpIndex op : lane) put(text, op);
  }
  put(text, static_cast<std::int64_t>(trace.arrivals.size()));
  for (const std::uint64_t arrival : trace.arrivals) put(text, static_cast<std::int64_t>(arrival));
  return text;
}

StepTrace unpacked(const std::string& text) {
  const char* at = text.data();
  StepTrace trace;
  trace.resident.workspace = take(at);
  trace.resident.host_workspace = take(at);
  trace.resident.context = take(at);
  trace.cpu_ns.resize(take(at));
  for (std::int64_t& cost : trace.cpu_ns) cost = take(at);
  for (auto& lane : trace.executed) {
    lane.resize(take(at));
    for (OpIndex& op : lane) op = static_cast<OpIndex>(take(at));
  }
  trace.arrivals.resize(take(at));
  for (std::uint64_t& arrival : trace.arrivals) arrival = static_cast<std::uint64_t>(take(at));
  return trace;
}

}  // namespace

TraceGather::TraceGather(World& world, std::uint32_t steps, Deliver deliver)
    : world_(world),
      steps_(steps),
      deliver_(std::move(deliver)),
      thread_(start_thread("gathering what ops cost", [this] { work(); })) {}

TraceGather::~TraceGather() { thread_.join(); }

void TraceGather::step_done(std::uint32_t step, const StepTrace& trace) {
  {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = step;
    waiting_.push_back(packed(trace));
  }
  ready_.notify_one();
}

void TraceGather::leave() {
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
  }
  ready_.notify_one();
}

void TraceGather::work() {
  for (std::uint32_t gathered = 0; gathered < steps_; ++gathered) {
    std::string mine;
    std::uint32_t step = 0;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [&] { return !waiting_.empty() || left_; });
      if (waiting_.empty()) return;
      step = first_.value() + gathered;
      mine = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      const std::vector<std::string> all = world_.exchange(mine);
      if (world_.rank() == 0)
        for (std::size_t rank = 0; rank < all.size(); ++rank)
          deliver_(static_cast<int>(rank), step, unpacked(all[rank]));
    } catch (const CommError&) {
      return;  // the run has failed and reports that itself
    }
  }
}

}  // namespace rankscope
