// The parts and communications of each rank: [plan] in torch.distributed.
#include <fmt/format.h>

#include <algorithm>

#include "engine/lesson/torch/pieces.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope::python {
namespace {

/// The title on one line, for any text: it becomes a comment.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return line;
}

std::string schedule_class(const PlanSpec& plan) {
  if (plan.schedule == ScheduleKind::interleaved) return "ScheduleInterleaved1F1B";
  return plan.schedule == ScheduleKind::one_f_one_b ? "Schedule1F1B" : "ScheduleGPipe";
}

std::string imports(const Subject& subject) {
  std::string text =
      subject.accumulates() && subject.replicas() && !subject.fully_sharded() ? "import contextlib\n" : "";
  if (subject.ranks() > 1) text += "import gc\n";
  text += "import itertools\nimport math\n";
  if (subject.ranks() > 1) text += "import os\n";
  text += "\nimport numpy as np\nimport torch\n";
  if (subject.ranks() > 1) text += "import torch.distributed as dist\n";
  text += "import torch.nn as nn\nimport torch.nn.functional as F\n";
  if (subject.ranks() > 1) text += "from torch.distributed.device_mesh import init_device_mesh\n";
  if (subject.fully_sharded()) text += "from torch.distributed.fsdp import fully_shard\n";
  if (subject.zero() == 1) text += "from torch.distributed.optim import ZeroRedundancyOptimizer\n";
  if (subject.stages())
    text += "from torch.distributed.pipelining import PipelineStage, " + schedule_class(subject.plan()) + "\n";
  if (subject.replicas() && !subject.fully_sharded()) text += "from torch.nn.parallel import DistributedDataParallel\n";
  if (subject.recomputes()) text += "from torch.utils.checkpoint import checkpoint\n";
  return text;
}

const char* words_of_replicas(const Subject& subject) {
  switch (subject.zero()) {
    case 1: return "DistributedDataParallel; plan.zero = 1: ZeroRedundancyOptimizer";
    case 2: return "replicas; plan.zero = 2: fully_shard, parameters kept until backward";
    case 3: return "replicas; plan.zero = 3: fully_shard";
    default: return "DistributedDataParallel averages gradients in buckets";
  }
}

std::string constant(const std::string& name, int value, const std::string& words) {
  return fmt::format("{:<24}# {}\n", fmt::format("{} = {}", name, value), words);
}

std::string constants(const Subject& subject) {
  const ModelSpec& model = subject.model();
  const PlanSpec& plan = subject.plan();
  std::string text = fmt::format("LAYERS, WIDTH, HEADS, CONTEXT, VOCABULARY = {}, {}, {}, {}, {}  # [model]\n",
                                 model.layers, model.width, model.heads, model.context, model.vocabulary);
  if (model.kind == ModelKind::llama)
    text += fmt::format("KEY_VALUE_HEADS, INNER, ROPE_THETA, NORM_EPSILON = {}, {}, {}, {}\n", model.heads_of_keys(),
                        model.mlp_width(), plain(model.rope_theta), plain(model.norm_epsilon));
  text += fmt::format("GLOBAL_BATCH, STEPS = {}, {}  # [train]: samples of a step over all ranks\n",
                      subject.train().global_batch, subject.train().steps);
  text += fmt::format("WEIGHT_SEED, DATA_SEED = {}, {}  # train.seed, data.seed\n", subject.train().seed,
                      subject.scenario.data.seed);
  if (subject.stages()) text += constant("PIPELINE", plan.pipeline, "plan.pipeline: stages");
  if (subject.replicas()) text += constant("DATA", plan.data, std::string("plan.data: ") + words_of_replicas(subject));
  if (subject.tensor_ranks())
    text += constant("TENSOR", plan.tensor, "plan.tensor: ranks that share every layer's matrices");
  if (plan.micro_batches > 1)
    text += constant("MICRO_BATCHES", plan.micro_batches, "plan.micro_batches: of a replica and step");
  if (subject.stages())
    text += fmt::format("LAYERS_OF_CHUNK = [{}]  # plan.stages{}\n", fmt::join(subject.layers, ", "),
                        plan.virtual_stages > 1 ? ", plan.virtual: chunk c is on stage c % PIPELINE" : "");
  if (subject.stages()) text += "CHUNKS = len(LAYERS_OF_CHUNK)\n";
  if (plan.precision == Precision::fp64) text += "torch.set_default_dtype(torch.float64)  # plan.precision\n";
  return text;
}

/// The wrapper of `module` for the data group.
std::string replica_of(const Subject& subject, const std::string& module) {
  return fmt::format("DistributedDataParallel({}, process_group=mesh.get_group(\"data\"), bucket_cap_mb={})", module,
                     plain(subject.plan().bucket_mib));
}

std::string own_replica(const Subject& subject) {
  if (!subject.replicas()) return "model = gpt\n";
  if (!subject.fully_sharded())
    return "# Gradients are averaged bucket by bucket during backward, the last layers' first (plan.bucket_mib; "
           "purpose\n# `data_gradient`). The first bucket has at most 1 MiB, as in Rankscope.\nmodel = " +
           replica_of(subject, "gpt") + "\n";
  const bool resharded = subject.zero() == 3;
  std::string text =
      resharded
          ? "# ZeRO 3: a block's parameters are gathered before its forward and again before its backward (purpose\n"
            "# `zero_parameter`), and its gradients are reduced and scattered after it (`zero_gradient`).\n"
          : "# ZeRO 2: gradients are reduced and scattered (purpose `zero_gradient`), and a rank updates its share. "
            "fully_shard gathers\n# parameters before forward and keeps them until backward is over "
            "(`zero_parameter`).\n";
  return text + fmt::format(
                    "for model in [*gpt.h, gpt]:  # the blocks, then the rest with all of them\n"
                    "    fully_shard(model, mesh=mesh[\"data\"], reshard_after_forward={})\n",
                    resharded ? "True" : "False");
}

std::string own_stage(const Subject& subject) {
  const PlanSpec& plan = subject.plan();
  const bool naive = plan.schedule == ScheduleKind::naive;
  std::string text =
      "\n# This rank's part of the pipeline; the parameters of other stages are freed.\n"
      "own = range(stage, CHUNKS, PIPELINE)\n"
      "chunks = [Chunk(gpt, number) for number in own]\n";
  if (subject.model().tied) text += "token_matrix = gpt.wte.weight\n";
  text += "del gpt\n";
  if (subject.replicas())
    text +=
        "# After the last micro-batch's backward, gradients are averaged bucket by bucket (purpose `data_gradient`).\n"
        "chunks = [" +
        replica_of(subject, "chunk") + " for chunk in chunks]\n";
  text +=
      "parameters = [named for chunk in chunks for named in chunk.named_parameters()]\n"
      "# Activations go to the next stage and their gradients return (purposes `pipeline_forward`, "
      "`pipeline_backward`).\n"
      "stages = [\n    PipelineStage(chunk, number, CHUNKS, torch.device(\"cpu\"), "
      "group=mesh.get_group(\"pipeline\"))\n    for chunk, number in zip(chunks, own)\n]\n";
  if (naive)
    text +=
        "# schedule = \"naive\": one micro-batch after the other through the whole pipeline, each with its own "
        "schedule.\n"
        "schedule = ScheduleGPipe(stages[0], 1, loss_fn=lambda *of: loss_of(*of) / " +
        std::string(plan.micro_batches > 1 ? "MICRO_BATCHES" : "1") + ")\n";
  else
    text += fmt::format("schedule = {}({}, {}, loss_fn=loss_of)  # plan.schedule = \"{}\"\n", schedule_class(plan),
                        plan.schedule == ScheduleKind::interleaved ? "stages" : "stages[0]",
                        plan.micro_batches > 1 ? "MICRO_BATCHES" : "1", plan.schedule.name());
  if (subject.model().tied)
    text += R"PY(
# The first and the last stage each have a copy of the token matrix, and add their gradients (purpose `embedding`).
embedding_group, _ = dist.new_subgroups_by_enumeration(mesh.mesh[[0, -1]].reshape(2, -1).T.tolist())
)PY";
  return text;
}

}  // namespace

std::string section(const std::string& title) {
  std::string line = "\n\n# ---- " + title + " ";
  line.resize(std::max<std::size_t>(line.size(), 122), '-');
  return line + "\n\n";
}

std::string head(const Subject& subject) {
  const int ranks = subject.ranks();
  std::string text = "#!/usr/bin/env python3\n# " + one_line(subject.scenario.title) + "\n#\n";
  text +=
      "# The same training in PyTorch, written by `rankscope-engine export-torch`: same initial weights, same samples, "
      "same\n"
      "# steps. It prints the loss of each step, which differs from `rankscope-engine run`'s only by rounding. It "
      "needs\n"
      "# PyTorch (tested with 2.15; pip install torch) and numpy, but no GPU.\n#\n";
  text += ranks > 1 ? fmt::format(
                          "#     torchrun --nproc-per-node {} THIS_FILE      # ranks are processes, gloo carries "
                          "their messages\n",
                          ranks)
                    : "#     python3 THIS_FILE\n";
  if (subject.train().checkpoint_every > 0) text += "#\n# The plan's checkpoints are left out.\n";
  return text + "\n" + imports(subject) + "\n" + constants(subject);
}

std::string ranks(const Subject& subject) {
  if (subject.ranks() == 1) return {};
  const PlanSpec& plan = subject.plan();
  std::vector<std::string> sizes, names, own;
  const auto add = [&](int size, const char* constant_name, const char* name, const char* coordinate) {
    if (size == 1) return;
    sizes.emplace_back(constant_name);
    names.push_back(fmt::format("\"{}\"", name));
    own.push_back(fmt::format("{} = mesh.get_local_rank(\"{}\")\n", coordinate, name));
  };
  add(plan.pipeline, "PIPELINE", "pipeline", "stage");
  add(plan.data, "DATA", "data", "data_rank");
  add(plan.tensor, "TENSOR", "tensor", "tensor_rank");
  const std::string comma = sizes.size() == 1 ? "," : "";
  std::string text = section("Ranks: torchrun starts them and gives each its RANK and the WORLD_SIZE");
  text += fmt::format(
      "if os.environ.get(\"WORLD_SIZE\") != \"{0}\":\n"
      "    raise SystemExit(\"the plan has {0} ranks: start it by torchrun --nproc-per-node {0}\")\n"
      "dist.init_process_group(\"gloo\")\n",
      plan.ranks());
  if (sizes.size() > 1) text += "# The rank grid: the last name varies fastest.\n";
  text += fmt::format("mesh = init_device_mesh(\"cpu\", ({}{}), mesh_dim_names=({}{}))\n", fmt::join(sizes, ", "),
                      comma, fmt::join(names, ", "), comma);
  for (const std::string& line : own) text += line;
  if (subject.tensor_ranks()) text += "tensor_group = mesh.get_group(\"tensor\")\n";
  return text;
}

std::string plan(const Subject& subject) {
  std::string text = section("The plan: what this rank has of the model") + "gpt = GPT()\nset_initial_weights(gpt)\n";
  if (subject.tensor_ranks()) text += "share_layers(gpt)\n";
  if (subject.stages()) return text + own_stage(subject);
  return text + own_replica(subject) + "parameters = list(model.named_parameters())\n";
}

}  // namespace rankscope::python
