// Pipeline schedules as data: for each stage the order of its compute ops, folded to chunks. Communication is added by
// passes, never here. One schedule per file; the table in schedule.cpp names them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/op/op_id.hpp"

namespace rankscope {

/// What a schedule needs to know.
struct PipelineShape {
  int stages = 1;
  int virtual_stages = 1;  ///< chunks per stage
  int micro_batches = 1;
  int chunks() const { return stages * virtual_stages; }
};

/// Compute order of every stage: ids with chunk and micro-batch, segment whole. Which chunk sits on which stage is
/// data.
struct ChunkSchedule {
  std::string name;
  PipelineShape shape;
  std::vector<int> stage_of_chunk;
  std::vector<std::vector<OpId>> order;  ///< [stage]
};

/// naive: one micro-batch after the other through the whole pipeline; one stage is busy at a time.
ChunkSchedule naive_schedule(PipelineShape shape);
/// GPipe (Huang et al. 2019, arXiv 1811.06965): all forwards, then all backwards, in micro-batch order.
ChunkSchedule gpipe_schedule(PipelineShape shape);
/// 1F1B, or PipeDream-Flush (Narayanan et al. 2021, arXiv 2104.04473): min(p-r-1, m) warm-up forwards, then one
/// forward and one backward in turn.
ChunkSchedule one_f_one_b_schedule(PipelineShape shape);

/// The schedule of that name; throws std::invalid_argument that lists the known ones.
ChunkSchedule make_schedule(std::string_view name, PipelineShape shape);
std::vector<std::string_view> schedule_names();

/// Share of the step that a stage idles, with equal stages and free communication: naive 1 - 1/p,
/// gpipe and 1f1b (p-1)/(m+p-1).
double ideal_bubble(const ChunkSchedule& schedule);

}  // namespace rankscope
