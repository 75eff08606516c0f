#include "engine/plan/program/ledger.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rankscope {

namespace {

void add(ClassBytes& to, const ClassBytes& bytes, int sign = 1) {
  for (std::size_t c = 0; c < memory_class_count; ++c) to[c] += sign * bytes[c];
}

void add(ClassBytes& to, const ResidentBytes& resident) {
  to[static_cast<std::size_t>(MemoryClass::workspace)] += resident.workspace;
  to[static_cast<std::size_t>(MemoryClass::host)] += resident.host_workspace;
  to[static_cast<std::size_t>(MemoryClass::context)] += resident.context;
}

}  // namespace

BufferLife life_of_buffers(const RankProgram& program) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  BufferLife life{std::vector<ClassBytes>(program.ops.size()), std::vector<ClassBytes>(program.ops.size()), {}};
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.within >= 0) continue;
    const auto memory = static_cast<std::size_t>(ledger_class(buffer));
    if (buffer.persistent) {
      life.persistent[memory] += buffer.bytes();
    } else if (lifetimes[b].used()) {
      life.takes[lifetimes[b].first][memory] += buffer.bytes();
      life.leaves[lifetimes[b].last][memory] += buffer.bytes();
    }
  }
  return life;
}

ResidentBytes resident_bytes_of(const RankProgram& program) {
  return {program.scratch_bytes, program.host_scratch_bytes, program.context_bytes};
}

MemoryProfile memory_profile(const RankProgram& program) {
  const BufferLife life = life_of_buffers(program);
  MemoryProfile profile;
  ClassBytes now = life.persistent;
  add(now, resident_bytes_of(program));
  profile.at.reserve(program.ops.size());
  for (OpIndex op = 0; op < program.ops.size(); ++op) {
    add(now, life.takes[op]);
    for (std::size_t c = 0; c < memory_class_count; ++c)
      profile.peak_by_class[c] = std::max(profile.peak_by_class[c], now[c]);
    profile.peak = std::max(profile.peak, device_sum(now));
    profile.at.push_back(now);
    add(now, life.leaves[op], -1);
  }
  return profile;
}

Ledger::Ledger(const RankProgram& program, const ResidentBytes& resident)
    : is_main_(program.ops.size()), at_begin_(program.ops.size()), at_end_(program.ops.size()) {
  const bool computes = std::ranges::any_of(program.ops, [](const Op& op) { return op.lane() == Lane::compute; });
  for (OpIndex op = 0; op < program.ops.size(); ++op)
    is_main_[op] = program.ops[op].lane() == (computes ? Lane::compute : Lane::server);
  const BufferLife life = life_of_buffers(program);
  alive_ = life.persistent;
  add_moves(life);
  find_pauses(program);
  set_resident(resident);
}

void Ledger::add_moves(const BufferLife& life) {
  for (OpIndex op = 0; op < life.takes.size(); ++op) {
    at_begin_[op].begin = moves_.size();
    if (life.takes[op] != ClassBytes{}) moves_.push_back({op, 1, life.takes[op]});
    at_begin_[op].end = at_end_[op].begin = moves_.size();
    if (life.leaves[op] != ClassBytes{}) moves_.push_back({op, -1, life.leaves[op]});
    at_end_[op].end = moves_.size();
    at_end_[op].at = at_begin_[op].at = op;
  }
}

/// After each op of the main lane, the move with the most bytes alive among the ops that follow it on other lanes;
/// after the last op all of them, and for the first op those before it.
void Ledger::find_pauses(const RankProgram& program) {
  bool first = true;
  for (OpIndex op = 0; op < program.ops.size(); ++op) {
    if (!is_main_[op]) continue;
    if (std::exchange(first, false)) at_begin_[op].begin = 0;
    OpIndex next = op + 1;
    while (next < program.ops.size() && !is_main_[next]) ++next;
    Part& pause = at_end_[op];
    if (next == program.ops.size()) {
      pause.end = moves_.size();
      continue;
    }
    std::int64_t sum = 0, most = 0;
    for (std::size_t m = pause.end; m < at_begin_[next].begin; ++m) {
      sum += moves_[m].sign * device_sum(moves_[m].bytes);
      if (sum <= most) continue;
      most = sum;
      pause.end = m + 1;
      pause.at = moves_[m].op;
    }
    at_begin_[next].begin = pause.end;
  }
}

bool Ledger::apply(const Part& part, Peaks& peaks) {
  for (std::size_t m = part.begin; m < part.end; ++m) {
    add(alive_, moves_[m].bytes, moves_[m].sign);
    raise(peaks, alive_);
  }
  return part.begin < part.end;
}

void Ledger::raise(Peaks& peaks, const ClassBytes& alive) {
  for (std::size_t c = 0; c < memory_class_count; ++c) peaks.by_class[c] = std::max(peaks.by_class[c], alive[c]);
  peaks.total = std::max(peaks.total, device_sum(alive));
}

Ledger::Peaks& Ledger::open(std::uint32_t step) {
  const auto [found, made] = peaks_.try_emplace(step);
  if (made) raise(found->second, alive_);
  return found->second;
}

void Ledger::set_resident(const ResidentBytes& resident) {
  const std::lock_guard lock(mutex_);
  const auto change = [&](MemoryClass memory, std::int64_t bytes) {
    alive_[static_cast<std::size_t>(memory)] += bytes;
    for (auto& [step, peaks] : peaks_) {
      peaks.by_class[static_cast<std::size_t>(memory)] += bytes;
      if (memory != MemoryClass::host) peaks.total += bytes;
    }
  };
  change(MemoryClass::workspace, resident.workspace - resident_.workspace);
  change(MemoryClass::host, resident.host_workspace - resident_.host_workspace);
  change(MemoryClass::context, resident.context - resident_.context);
  resident_ = resident;
}

Ledger::Peaks Ledger::take_peaks(std::uint32_t step) {
  const std::lock_guard lock(mutex_);
  open(step);
  return peaks_.extract(step).mapped();
}

std::vector<AliveFrom> memory_along(Ledger& ledger, std::span<const OpTime> ops) {
  // The main lane's ops, the only ones with changes, run one after the other: each ends before the next one begins.
  std::vector<OpTime> in_order(ops.begin(), ops.end());
  std::sort(in_order.begin(), in_order.end(), [](const OpTime& a, const OpTime& b) {
    return std::tie(a.begin_ns, a.end_ns, a.step, a.op) < std::tie(b.begin_ns, b.end_ns, b.step, b.op);
  });
  std::vector<AliveFrom> levels;
  const auto changed_at = [&](std::int64_t time, std::uint32_t step) {
    return [&levels, time, step](OpIndex holds, const ClassBytes& alive) {
      AliveFrom level{holds, step, time, alive};
      if (!levels.empty()) level.time_ns = std::max(level.time_ns, levels.back().time_ns);
      if (!levels.empty() && levels.back().time_ns == level.time_ns) {
        const std::int64_t there = device_sum(levels.back().bytes);
        const std::int64_t earlier = levels.size() > 1 ? device_sum(levels[levels.size() - 2].bytes) : 0;
        if (there > std::max(earlier, device_sum(alive)))
          ++level.time_ns;
        else
          levels.pop_back();
      }
      levels.push_back(level);
    };
  };
  for (const OpTime& op : in_order) {
    ledger.begin(op.op, op.step, changed_at(op.begin_ns, op.step));
    ledger.end(op.op, op.step, changed_at(op.end_ns, op.step));
  }
  for (const OpTime& op : ops) ledger.take_peaks(op.step);  // not needed here
  return levels;
}

}  // namespace rankscope
