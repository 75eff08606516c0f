// The rules between a plan's values: divisibility and valid combinations. Their advice has been tested.
#include <algorithm>
#include <cstdint>

#include "engine/op/words.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/advice.hpp"
#include "engine/plan/scenario/asynchronous.hpp"
#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/collective.hpp"
#include "engine/plan/scenario/data_source.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/llama.hpp"
#include "engine/plan/scenario/resnet.hpp"
#include "engine/plan/scenario/stage_split.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t most_ranks = 1 << 20;
constexpr std::int64_t most_layers = 2047;
constexpr std::size_t longest_value = 40;  ///< that an error message repeats

std::string shortened(const std::string& value) {
  return value.size() <= longest_value ? value : value.substr(0, longest_value) + "…";
}
std::string with_advice(const std::string& what, const std::string& right) {
  return right.empty() ? what : what + "; " + right;
}
/// The schedule with one chunk a stage, or one that supports the plan's number of chunks.
std::string first_schedule(const Advisor& advisor) {
  const auto working = advisor.working("plan.schedule", {"1f1b", "interleaved", "zb-v"});
  if (working.empty()) return "\"1f1b\" and virtual = 1";
  return std::string("\"").append(working.front()).append("\"");
}
/// One group of as many micro-batches as there are stages, and its smallest batch that no other rule rejects.
std::string one_group(const PlanSpec& plan, const Advisor& advisor) {
  constexpr std::int64_t most_samples = 8;  // of a micro-batch
  const std::string micro_batches = std::to_string(plan.pipeline);
  const auto batch = [&](std::int64_t samples) { return std::to_string(samples * plan.pipeline * plan.data); };
  std::int64_t samples = 1;
  while (samples < most_samples &&
         !advisor.works({{"plan.micro_batches", micro_batches}, {"train.global_batch", batch(samples)}}))
    ++samples;
  return "micro_batches = " + micro_batches + " and global_batch = " + batch(samples) + " would do";
}
/// Valid numbers of layers, stages and chunks if there are more chunks than layers.
std::string layers_that_do(const Scenario& scenario, std::int64_t chunks, const Advisor& advisor) {
  const PlanSpec& plan = scenario.plan;
  const std::int64_t stages = scenario.model.layers / plan.virtual_stages;
  std::string text;
  if (const auto layers =
          advisor.numbers_near("model.layers", chunks - 1, most_layers, [&](std::int64_t n) { return n >= chunks; });
      !layers.empty())
    text = "at least layers = " + layers.front();
  if (const auto fewer = advisor.numbers_near("plan.pipeline", stages + 1, stages, [](std::int64_t) { return true; });
      !fewer.empty())
    text += (text.empty() ? "" : ", or ") + std::string("pipeline at most ") + fewer.front();
  return text.empty() ? "pipeline = 1 and virtual = 1 and schedule = \"1f1b\" would do" : text;
}

std::optional<Complaint> batch_complaint(const Scenario& scenario, const Advisor& advisor) {
  const std::int64_t batch = scenario.train.global_batch, data = scenario.plan.data;
  const std::int64_t micro_batches = scenario.plan.micro_batches;
  if (batch % (data * micro_batches) == 0) return std::nullopt;
  std::string what = fmt::format("global_batch {} cannot be cut into ", batch);
  if (data > 1) what += fmt::format("{} data-parallel ranks × ", data);
  what += counted(micro_batches, "micro-batch", ending_es) + " of whole samples";
  const auto batches = advisor.multiples_near("train.global_batch", data * micro_batches, batch);
  if (batch % data == 0)
    return Complaint{
        {"plan.micro_batches", "train.global_batch", "plan.data"},
        with_advice(
            what, would_do({{"micro_batches", advisor.divisors_near("plan.micro_batches", batch / data, micro_batches)},
                            {"global_batch", batches}}))};
  return Complaint{{"plan.data", "train.global_batch", "plan.micro_batches"},
                   with_advice(what, would_do({{"global_batch", batches}}))};
}

/// A hyper-parameter that the optimizer does not have would be read without effect.
std::optional<Complaint> optimizer_complaint(const Scenario& scenario, const Advisor& advisor) {
  Scenario copy = scenario, taking;
  const auto takes = [&](const OptimizerRule& rule, const Key& key) {
    taking.train.hyper = rule.defaults;
    return given(key.field(taking));
  };
  const OptimizerRule& chosen = optimizer_rule(scenario.train.optimizer);
  for (const Key& key : scenario_keys()) {
    if (!given(key.field(copy)) || takes(chosen, key)) continue;
    std::vector<std::string> others;
    for (const OptimizerRule& rule : optimizer_rules())
      if (takes(rule, key)) others.emplace_back(rule.name);
    const std::string name(key.name);
    others = advisor.working("train.optimizer", others);
    return Complaint{{key.path(), "train.optimizer"},
                     "optimizer \"" + scenario.train.optimizer + "\" has no " + name + "; remove " + name +
                         (others.empty() ? "" : ", or choose an optimizer that has it: " + listed(others))};
  }
  return std::nullopt;
}

std::optional<Complaint> learning_rate_complaint(const TrainSpec& train) {
  if (train.decay == Decay::none) {
    const bool least = train.min_learning_rate > 0;
    if (least || train.decay_steps > 0)
      return Complaint{{least ? "train.min_learning_rate" : "train.decay_steps", "train.decay"},
                       std::string(least ? "min_learning_rate" : "decay_steps") +
                           " without a decay means nothing; give decay = \"linear\" or \"cosine\""};
    return std::nullopt;
  }
  if (train.min_learning_rate > train.learning_rate)
    return Complaint{{"train.min_learning_rate", "train.learning_rate"},
                     "min_learning_rate " + plain(train.min_learning_rate) + " is above the learning_rate " +
                         plain(train.learning_rate) +
                         " that decays to it; min_learning_rate = " + plain(train.learning_rate) + " would do"};
  // A run that ends before its warm-up is just a short run, no error.
  if (train.decay_steps > 0 && train.warmup_steps >= train.decay_steps)
    return Complaint{{"train.decay_steps", "train.warmup_steps"},
                     fmt::format("a decay that ends at step {} does so within the warm-up of {}; decay_steps = {} "
                                 "would do, or warmup_steps = {}",
                                 train.decay_steps, counted(train.warmup_steps, "step"), train.warmup_steps + 1,
                                 train.decay_steps - 1)};
  return std::nullopt;
}

/// Requirements of the schedule on chunks and micro-batches.
std::optional<Complaint> schedule_complaint(const PlanSpec& plan, const Advisor& advisor) {
  const std::string chunks = fmt::format("virtual = {}", plan.virtual_stages);
  if (plan.schedule == ScheduleKind::zb_v && plan.virtual_stages != 2)
    return Complaint{{"plan.virtual", "plan.schedule"},
                     chunks +
                         " does not fit schedule \"zb-v\", which runs exactly two chunks on each stage; "
                         "virtual = 2 would do"};
  if ((plan.schedule == ScheduleKind::by_hand) != !plan.order.empty())
    return Complaint{{"plan.order", "plan.schedule"},
                     plan.order.empty()
                         ? "schedule \"by-hand\" needs an order: a line for each stage, such as \"stage "
                           "0: F:c0:m0 B:c0:m0\"; give one, or schedule = " +
                               first_schedule(advisor)
                         : "an order is that of schedule \"by-hand\", and the schedule is \"" + plan.schedule.name() +
                               "\"; remove order, or give schedule = \"by-hand\""};
  if (plan.virtual_stages > 1 && plan.schedule != ScheduleKind::interleaved && plan.schedule != ScheduleKind::zb_v &&
      plan.schedule != ScheduleKind::by_hand)
    return Complaint{{"plan.virtual", "plan.schedule"},
                     chunks + " does not fit schedule \"" + plan.schedule.name() +
                         "\", which runs one chunk on each stage; virtual = 1 would do" +
                         (advisor.works({{"plan.schedule", "interleaved"}}) ? ", or schedule = \"interleaved\"" : "")};
  if (plan.schedule == ScheduleKind::interleaved && plan.micro_batches % plan.pipeline != 0) {
    std::string right =
        would_do({{"micro_batches", advisor.multiples_near("plan.micro_batches", plan.pipeline, plan.micro_batches)}});
    if (right.empty()) right = one_group(plan, advisor);
    return Complaint{{"plan.micro_batches", "plan.schedule", "plan.pipeline"},
                     fmt::format("schedule \"interleaved\" takes micro-batches in groups of as many as there are "
                                 "stages, and {} is no multiple of {}; {}",
                                 plan.micro_batches, plan.pipeline, right)};
  }
  if (!listed_times(plan.pass_times))
    return Complaint{
        {"plan.pass_times"},
        "pass_times = \"" + shortened(plan.pass_times) +
            "\" should be five numbers: what a forward, an input gradient, a weight gradient and a message "
            "take, and the share of activations that is kept for the last (up to 1); pass_times = \"1 1 0.5 "
            "0.03 0.4\" would do"};
  return std::nullopt;
}

std::optional<Complaint> stages_complaint(const Scenario& scenario, const Advisor& advisor) {
  const std::string& stages = scenario.plan.stages;
  if (stage_split(scenario.plan) != StageSplit::listed) return std::nullopt;
  const auto layers = listed_layers(stages);
  const std::string requested =
      fmt::format("{}{} of together {}", scenario.plan.chunks(),
                  scenario.plan.virtual_stages > 1 ? " chunks" : " stages", counted(scenario.model.layers, "layer"));
  const std::string even = advisor.works({{"plan.stages", "even"}}) ? "; stages = \"even\" would do" : "";
  if (!layers)
    return Complaint{{"plan.stages"},
                     "stages = \"" + shortened(stages) +
                         "\" is neither \"even\" nor \"cost\" nor \"measured\" nor a list of layers such as "
                         "\"3 2 2 1\"" +
                         even};
  std::int64_t sum = 0;
  for (const int count : *layers) sum += count;
  if (static_cast<int>(layers->size()) != scenario.plan.chunks() || sum != scenario.model.layers)
    return Complaint{{"plan.stages", "plan.pipeline", "model.layers"},
                     fmt::format("stages = \"{}\" lists {} of together {}, and there are {}{}", shortened(stages),
                                 static_cast<std::int64_t>(layers->size()), counted(sum, "layer"), requested, even)};
  if (layers->size() > 2 && std::count(layers->begin() + 1, layers->end() - 1, 0) > 0)
    return Complaint{{"plan.stages"},
                     "stages = \"" + shortened(stages) +
                         "\" has a chunk of nothing: only the first and the last, which have the embedding and the "
                         "head, can be without layers" +
                         even};
  if (layers->size() > 1 && layers->front() == 0 && is_zero_bubble(scenario.plan.schedule))
    return Complaint{{"plan.stages", "plan.schedule"},
                     "stages = \"" + shortened(stages) +
                         "\" gives the first chunk the embedding alone, and so no input gradient that schedule \"" +
                         scenario.plan.schedule.name() + "\" could order" + even};
  return std::nullopt;
}

/// Tensor ranks need equal parts: heads, and with sequence parallelism rows.
std::optional<Complaint> tensor_complaint(const Scenario& scenario, const Advisor& advisor) {
  const std::int64_t tensor = scenario.plan.tensor, heads = scenario.model.heads;
  if (tensor == 1) return std::nullopt;
  if (heads % tensor != 0)
    return Complaint{
        {"plan.tensor", "model.heads"},
        with_advice(fmt::format("{} cannot be shared by {}", counted(heads, "head"), counted(tensor, "tensor rank")),
                    would_do({{"tensor", advisor.divisors_near("plan.tensor", heads, tensor)},
                              {"heads", advisor.multiples_near("model.heads", tensor, heads)}}))};
  const std::string& optimizer = scenario.train.optimizer;
  if (optimizer_rule(optimizer).grain != 1)
    return Complaint{{"train.optimizer", "plan.tensor"},
                     fmt::format("optimizer \"{}\" updates elements of a tensor together, and each of {} has a part of "
                                 "it; use tensor = 1, or another optimizer",
                                 optimizer, counted(tensor, "tensor rank"))};
  const std::int64_t tokens = std::int64_t{scenario.micro_batch_size()} * scenario.model.context;
  if (scenario.plan.sequence_parallel && tokens % tensor != 0)
    return Complaint{
        {"plan.sequence_parallel", "plan.tensor", "model.context"},
        fmt::format("a micro-batch of {} cannot be shared by {}; {}", counted(tokens, "token"),
                    counted(tensor, "tensor rank"),
                    would_do({{"context", advisor.multiples_near("model.context", tensor, scenario.model.context)},
                              {"sequence_parallel", {"false"}}}))};
  return std::nullopt;
}

/// Valid combinations with a main device and parameter servers.
std::optional<Complaint> data_parallel_complaint(const Scenario& scenario, const Advisor& advisor) {
  const PlanSpec& plan = scenario.plan;
  const std::string here = "data_parallel = \"" + plan.data_parallel.name() + "\"";
  const auto refused = [&](const char* key, const std::string& why) {
    return Complaint{{key, "plan.data_parallel"}, why};
  };
  if (!plan.has_servers()) {
    const char* key = plan.servers != 1 ? "servers" : plan.staleness != 0 ? "staleness" : nullptr;
    if (key)
      return refused(plan.servers != 1 ? "plan.servers" : "plan.staleness",
                     std::string(key) + " is that of parameter servers, and the plan has none; " +
                         (advisor.works({{"plan.data_parallel", "parameter-server"}})
                              ? "give data_parallel = \"parameter-server\", or "
                              : "") +
                         "remove " + key);
    if (plan.has_main_device() && plan.zero > 0)
      return refused("plan.zero", fmt::format("{} updates everything on one rank, and zero = {} shares that among all; "
                                              "use zero = 0, or data_parallel = \"all-reduce\"",
                                              here, plan.zero));
    return std::nullopt;
  }
  if (plan.tensor > 1 || plan.pipeline > 1)
    return refused(plan.tensor > 1 ? "plan.tensor" : "plan.pipeline",
                   here + " has workers that hold the whole model; use tensor = 1 and pipeline = 1");
  if (plan.zero > 0)
    return refused(
        "plan.zero",
        fmt::format(
            "{} keeps states on servers, and zero = {} on workers; use zero = 0, or data_parallel = \"all-reduce\"",
            here, plan.zero));
  if (plan.precision == Precision::fp16)
    return refused("plan.precision", here +
                                         " has no loss scale for precision = \"fp16\": workers multiply by it, but "
                                         "servers see the overflow; use precision = \"bf16\"");
  if (plan.offload != Offload::none)
    return refused("plan.offload", here + " keeps states on servers, and offload = \"" + plan.offload.name() +
                                       "\" moves those of workers; use offload = \"none\"");
  if (plan.servers > 1 && optimizer_rule(scenario.train.optimizer).grain == 0)
    return refused("train.optimizer", "optimizer \"" + scenario.train.optimizer +
                                          "\" updates a tensor only as a whole, and servers have parts of tensors; use "
                                          "servers = 1, or another optimizer");
  if (plan.staleness == 0) return std::nullopt;
  if (scenario.train.clip > 0)
    return refused("train.clip",
                   "with staleness > 0 updates are made as they come, so that no gradient of a step is "
                   "there to be clipped; use clip = 0, or staleness = 0");
  if (scenario.train.checkpoint_every > 0)
    return refused("train.checkpoint_every",
                   "with staleness > 0 there is no moment at which all have done a step, which a checkpoint is of; use "
                   "checkpoint_every = 0, or staleness = 0");
  return std::nullopt;
}

std::optional<Complaint> zero_complaint(const Scenario& scenario) {
  const std::string& optimizer = scenario.train.optimizer;
  if (scenario.plan.zero == 0 || optimizer_rule(optimizer).grain != 0) return std::nullopt;
  return Complaint{
      {"plan.zero", "train.optimizer"},
      "optimizer \"" + optimizer +
          "\" updates a tensor only as a whole, and ZeRO cuts tensors; use zero = 0, or another optimizer"};
}

std::optional<Complaint> recompute_complaint(const Scenario& scenario, const Advisor& advisor) {
  const PlanSpec& plan = scenario.plan;
  if (plan.recompute_blocks == 1 || plan.recompute == Recompute::blocks) return std::nullopt;
  return Complaint{{"plan.recompute_blocks", "plan.recompute"},
                   fmt::format("recompute_blocks = {} says of how many blocks recompute = \"blocks\" keeps one input, "
                               "but recompute is \"{}\"; recompute_blocks = 1 would do{}",
                               plan.recompute_blocks, plan.recompute.name(),
                               advisor.works({{"plan.recompute", "blocks"}}) ? ", or recompute = \"blocks\"" : "")};
}

/// Requirements of the plan on the machine, and between the machine's figures.
std::optional<Complaint> cluster_complaint(const Scenario& scenario, const Advisor& advisor) {
  const ClusterSpec& cluster = scenario.cluster;
  const std::int64_t ranks = scenario.plan.ranks(), devices = std::int64_t{cluster.nodes} * cluster.devices_per_node;
  if (devices > 0 && ranks > devices)
    return Complaint{{"plan.data", "plan.pipeline", "plan.tensor", "cluster.nodes", "cluster.spec"},
                     fmt::format("the plan has {}, and cluster '{}' has {} ({} of {}); use fewer ranks, or set "
                                 "cluster.nodes = 0 for as many nodes as it takes",
                                 counted(ranks, "rank"), cluster.label(), counted(devices, "device"),
                                 counted(cluster.nodes, "node"), cluster.devices_per_node)};
  if (const int bytes = cluster.software.reduced_bytes; bytes != 0 && bytes != 2 && bytes != 4 && bytes != 8)
    return Complaint{{"software.reduced_bytes"},
                     fmt::format("reduced_bytes = {}: a gradient's element has 2, 4 or 8 bytes; reduced_bytes = 0 "
                                 "stands for those of its type",
                                 bytes)};
  if (cluster.devices_per_node % cluster.devices_per_card != 0)
    return Complaint{
        {"cluster.devices_per_card", "cluster.devices_per_node"},
        with_advice(
            fmt::format("{} of a node cannot be on cards of {}", counted(cluster.devices_per_node, "device"),
                        cluster.devices_per_card),
            would_do({{"devices_per_card", advisor.divisors_near("cluster.devices_per_card", cluster.devices_per_node,
                                                                 cluster.devices_per_card)}}))};
  if (cluster.devices_per_card > 1 && !(cluster.card_bandwidth > 0))
    return Complaint{
        {"cluster.devices_per_card"},
        fmt::format("{} on a card have a link of their own, and it is not described; give card_bandwidth and "
                    "card_latency_s, or use devices_per_card = 1",
                    counted(cluster.devices_per_card, "device"))};
  return std::nullopt;
}

std::optional<Complaint> data_complaint(const Scenario& scenario) {
  const auto data = named_source(scenario.data);
  if (!data) return std::nullopt;
  const int vocabulary = scenario.model.vocabulary, bytes = scenario.data.token_bytes;
  if (data->source == DataSource::text && vocabulary < 256)
    return Complaint{
        {"model.vocabulary", "data.source"},
        fmt::format("a text's tokens are bytes, and vocabulary is {}; vocabulary = 256 would do", vocabulary)};
  if (bytes == 3)
    return Complaint{{"data.token_bytes"}, "token_bytes = 3: a file's tokens have 16 or 32 bits; use 2 or 4"};
  if (data->source != DataSource::tokens && bytes != 2)
    return Complaint{
        {"data.token_bytes", "data.source"},
        fmt::format("token_bytes = {} says how source = \"tokens:FILE\" is read, and the source is \"{}\"; "
                    "remove token_bytes",
                    bytes, scenario.data.source)};
  constexpr int most_of_16_bits = 65536;
  if (data->source == DataSource::tokens && bytes == 2 && vocabulary > most_of_16_bits)
    return Complaint{
        {"model.vocabulary", "data.token_bytes"},
        fmt::format("tokens of 16 bits are below {}, and vocabulary is {}; a file for it has token_bytes = 4",
                    most_of_16_bits, vocabulary)};
  return std::nullopt;
}

std::optional<Complaint> fault_complaint(const Scenario& scenario) {
  const FaultSpec& fault = scenario.fault;
  const int ranks = scenario.plan.ranks();
  if ((fault.kill_rank >= 0) != (fault.kill_step >= 0))
    return Complaint{
        {"fault.kill_rank", "fault.kill_step"},
        "kill_rank and kill_step belong together (who dies, and at the start of which step); give both, or "
        "remove " +
            std::string(fault.kill_rank >= 0 ? "kill_rank" : "kill_step")};
  if (fault.kill_rank >= ranks)
    return Complaint{{"fault.kill_rank", "plan.pipeline", "plan.data"},
                     out_of_range("kill_rank", fault.kill_rank, "ranks", ranks)};
  if (fault.slow_rank >= ranks)
    return Complaint{{"fault.slow_rank", "plan.pipeline", "plan.data"},
                     out_of_range("slow_rank", fault.slow_rank, "ranks", ranks)};
  if (fault.kill_step >= scenario.train.steps)
    return Complaint{{"fault.kill_step", "train.steps"},
                     out_of_range("kill_step", fault.kill_step, "steps", scenario.train.steps)};
  if (fault.slow_rank < 0 && fault.slow_factor != 1.0)
    return Complaint{
        {"fault.slow_factor"},
        "slow_factor without slow_rank has no effect; give a rank, such as slow_rank = 0, or remove slow_factor"};
  return std::nullopt;
}

std::optional<Complaint> plan_complaint(const Scenario& scenario, const Advisor& advisor) {
  const ModelSpec& model = scenario.model;
  const PlanSpec& plan = scenario.plan;
  if (auto complaint = collective_complaint(scenario)) return complaint;
  if (model.is_collective()) {
    if (auto complaint = cluster_complaint(scenario, advisor)) return complaint;
    return fault_complaint(scenario);
  }
  const std::int64_t ranks = std::int64_t{plan.data} * plan.tensor * plan.pipeline;
  if (ranks > most_ranks)
    return Complaint{{"plan.data", "plan.tensor", "plan.pipeline"},
                     fmt::format("data × tensor × pipeline makes {}; at most {} can be planned", counted(ranks, "rank"),
                                 most_ranks)};
  if (const std::int64_t chunks = std::int64_t{plan.pipeline} * plan.virtual_stages;
      chunks > model.layers && !listed_layers(plan.stages))
    return Complaint{
        {"plan.pipeline", "model.layers", "plan.virtual"},
        fmt::format("{} cannot be split over {}{}; each needs a layer of its own, so {}",
                    counted(model.layers, "layer"), chunks, plan.virtual_stages > 1 ? " chunks" : " stages",
                    layers_that_do(scenario, chunks, advisor))};
  if (auto complaint = schedule_complaint(plan, advisor)) return complaint;
  if (auto complaint = stages_complaint(scenario, advisor)) return complaint;
  if (auto complaint = resnet_complaint(scenario)) return complaint;
  if (auto complaint = llama_complaint(scenario)) return complaint;
  if (!model.is_resnet() && model.width % model.heads != 0)
    return Complaint{
        {"model.heads", "model.width"},
        with_advice(fmt::format("width {} cannot be divided by {}", model.width, counted(model.heads, "head")),
                    would_do({{"heads", advisor.divisors_near("model.heads", model.width, model.heads)},
                              {"width", advisor.multiples_near("model.width", model.heads, model.width)}}))};
  if (auto complaint = batch_complaint(scenario, advisor)) return complaint;
  if (auto complaint = optimizer_complaint(scenario, advisor)) return complaint;
  if (auto complaint = tensor_complaint(scenario, advisor)) return complaint;
  if (auto complaint = zero_complaint(scenario)) return complaint;
  if (auto complaint = recompute_complaint(scenario, advisor)) return complaint;
  if (auto complaint = cluster_complaint(scenario, advisor)) return complaint;
  if (auto complaint = data_parallel_complaint(scenario, advisor)) return complaint;
  if (auto complaint = asynchronous_complaint(scenario, advisor)) return complaint;
  if (auto complaint = learning_rate_complaint(scenario.train)) return complaint;
  if (std::int64_t{scenario.micro_batch_size()} * model.tokens_per_sample() > 2147483647)
    return Complaint{{"train.global_batch", "model.context", "plan.micro_batches"},
                     "a micro-batch of " + counted(scenario.micro_batch_size(), "sample") + " × " +
                         counted(model.context, "token") + " is too large; use more micro_batches"};
  if (auto complaint = data_complaint(scenario)) return complaint;
  return fault_complaint(scenario);
}

}  // namespace

std::optional<Complaint> complaint_about_plan(const Scenario& scenario) {
  const auto culprits = [](const Scenario& changed) {
    const auto complaint = complaint_about_values(changed);
    const auto complaint_of_change = complaint ? complaint : plan_complaint(changed, {changed, nullptr});
    return complaint_of_change ? complaint_of_change->keys : std::vector<std::string>{};
  };
  return plan_complaint(scenario, {scenario, culprits});
}

}  // namespace rankscope
