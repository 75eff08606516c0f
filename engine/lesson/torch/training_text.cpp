// The training: [train] in torch.optim's words, and the loop.
#include <fmt/format.h>

#include <stdexcept>

#include "engine/lesson/torch/pieces.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope::python {
namespace {

/// The class of torch.optim, and its arguments besides rate and decay.
struct TorchOptimizer {
  std::string name, options;
};

TorchOptimizer torch_optimizer(const TrainSpec& train) {
  const OptimizerRule& rule = optimizer_rule(train.optimizer);
  const HyperParameters h = resolved(train.hyper, rule.defaults);
  const auto betas_and_epsilon = [&] {
    return fmt::format(", betas=({}, {}), eps={}", plain(*h.beta1), plain(*h.beta2), plain(*h.epsilon));
  };
  switch (rule.kernel) {
    using enum kernels::UpdateRule;
    case sgd: return {"SGD", ""};
    case momentum:
      return {"SGD", fmt::format(", momentum={}{}", plain(*h.momentum), *h.nesterov ? ", nesterov=True" : "")};
    case adagrad: return {"Adagrad", fmt::format(", eps={}", plain(*h.epsilon))};
    case adam: return {"Adam", betas_and_epsilon()};
    case adamw: return {"AdamW", betas_and_epsilon()};
    case radam: return {"RAdam", betas_and_epsilon()};
    case adafactor:
    case adam8bit:
    case sophia:
    case lars:
    case lamb: break;
  }
  throw std::logic_error("no class of torch.optim for " + train.optimizer);
}

std::string learning_rate(const TrainSpec& train) {
  const int end = train.decay_steps > 0 ? train.decay_steps : train.steps;
  std::string text = "\n\ndef learning_rate(step):\n";
  if (train.warmup_steps > 0)
    text += fmt::format("    if step < {0}:  # train.warmup_steps\n        return {1} * (step + 1) / {0}\n",
                        train.warmup_steps, plain(train.learning_rate));
  if (train.decay == Decay::none) return text + "    return " + plain(train.learning_rate) + "\n";
  const std::string from = plain(train.learning_rate), to = plain(train.min_learning_rate);
  text += end > train.warmup_steps
              ? fmt::format("    x = min(1, (step - {}) / {})\n", train.warmup_steps, end - train.warmup_steps)
              : "    x = 1\n";
  if (train.decay == Decay::linear) return text + fmt::format("    return {0} + ({1} - {0}) * x\n", from, to);
  return text + fmt::format("    return {1} + ({0} - {1}) * (1 + math.cos(math.pi * x)) / 2\n", from, to);
}

/// For models in which no rank's clip_grad_norm_ sees all parameters.
std::string clip_function(const Subject& subject) {
  std::string counted;
  if (subject.tensor_ranks())
    counted += R"PY(    if tensor_rank > 0 and any(word in name for word in ("ln_", "wpe.", "c_proj.bias")):
        return False  # every tensor rank has the whole of it
)PY";
  if (subject.stages() && subject.model().tied)
    counted += R"PY(    if stage > 0 and "wte." in name:
        return False  # the first stage has it, too
)PY";
  std::vector<std::string> groups;
  if (subject.stages()) groups.emplace_back("\"pipeline\"");
  if (subject.fully_sharded()) groups.emplace_back("\"data\"");
  if (subject.tensor_ranks()) groups.emplace_back("\"tensor\"");
  const char* gradient = subject.fully_sharded() ? "p.grad.to_local()" : "p.grad";
  std::string text = "\n\n";
  if (!counted.empty())
    text += "def counts(name):\n    \"\"\"Each parameter once in the norm.\"\"\"\n" + counted + "    return True\n\n\n";
  text += R"PY(def clip_gradients():
    """One norm over what all ranks have (purpose `norm`), and the same factor everywhere."""
    square = torch.zeros((), dtype=torch.float64)
    for name, p in parameters:
)PY";
  text += counted.empty()
              ? fmt::format("        square += {}.double().square().sum()\n", gradient)
              : fmt::format("        if counts(name):\n            square += {}.double().square().sum()\n", gradient);
  for (const std::string& group : groups)
    text += fmt::format("    dist.all_reduce(square, group=mesh.get_group({}))\n", group);
  text +=
      "    factor = min(1.0, CLIP / (math.sqrt(square.item()) + 1e-6))\n"
      "    for _, p in parameters:\n        p.grad.mul_(factor)\n";
  return text;
}

/// Forward and backward of a step on `samples`, which leaves `losses` on the last stage.
std::string pass_through_stages(const Subject& subject) {
  if (subject.plan().schedule == ScheduleKind::naive && subject.plan().micro_batches > 1)
    return R"PY(    losses = []
    for part in samples.chunk(MICRO_BATCHES):
        inputs = [part[:, :-1].contiguous()] if stage == 0 else []
        options = {"target": part[:, 1:], "losses": []} if stage == PIPELINE - 1 else {}
        schedule.step(*inputs, **options)
        losses += options.get("losses", [])
)PY";
  return R"PY(    losses = []
    inputs = [samples[:, :-1].contiguous()] if stage == 0 else []
    options = {"target": samples[:, 1:], "losses": losses} if stage == PIPELINE - 1 else {}
    schedule.step(*inputs, **options)  # forwards, backwards and messages of all micro-batches
)PY";
}

/// The same for ranks with all layers; leaves `loss`, this replica's mean.
std::string pass(const Subject& subject) {
  if (!subject.accumulates())
    return "    loss = loss_of(model(samples[:, :-1]), samples[:, 1:])\n    loss.backward()" +
           std::string(subject.replicas() ? "  # meanwhile gradients are averaged over the replicas" : "") +
           "\n    loss = loss.detach()\n";
  const bool waits = subject.replicas() && !subject.fully_sharded();
  std::string text = "    loss = torch.zeros(())\n";
  const char* in = waits ? "    " : "";
  text +=
      waits
          ? "    for m, part in enumerate(samples.chunk(MICRO_BATCHES)):\n"
            "        # Gradients add up over the micro-batches; the last one's backward averages them over replicas.\n"
            "        with model.no_sync() if m + 1 < MICRO_BATCHES else contextlib.nullcontext():\n"
          : "    for part in samples.chunk(MICRO_BATCHES):  # their gradients add up\n";
  text += fmt::format(
      "{0}        part_loss = loss_of(model(part[:, :-1]), part[:, 1:]) / MICRO_BATCHES\n"
      "{0}        part_loss.backward()\n",
      in);
  return text + "        loss += part_loss.detach()\n";
}

/// The end of a step: the loss over all replicas, on the ranks that have it.
std::string step_loss(const Subject& subject) {
  std::string text;
  if (subject.stages())
    text +=
        fmt::format("    if stage < PIPELINE - 1:\n        return None\n    loss = torch.stack(losses).{}().detach()\n",
                    subject.plan().schedule == ScheduleKind::naive ? "sum" : "mean");
  if (subject.replicas()) text += "    loss /= DATA\n    dist.all_reduce(loss, group=mesh.get_group(\"data\"))\n";
  return text + "    return loss\n";
}

/// One of the ranks with the loss prints it.
std::string print_loss(const Subject& subject) {
  std::vector<std::string> who;
  if (subject.stages()) who.emplace_back("stage == PIPELINE - 1");
  if (subject.replicas()) who.emplace_back("data_rank == 0");
  if (subject.tensor_ranks()) who.emplace_back("tensor_rank == 0");
  const char* print = "print(f\"step {step:5d}  loss {loss.item():.7f}\", flush=True)\n";
  const std::string line =
      who.empty() ? std::string("    ") + print : fmt::format("    if {}:\n        {}", fmt::join(who, " and "), print);
  return "\n\nlanguage = Language()\nfor step in range(STEPS):\n    loss = train_step(step)\n" + line;
}

std::string leave(const Subject& subject) {
  if (subject.ranks() == 1) return {};
  std::string names = subject.stages() ? "schedule, stages, chunks" : "gpt, model";
  names += ", parameters, groups, optimizer, mesh";
  if (subject.tensor_ranks()) names += ", tensor_group";
  if (subject.stages() && subject.model().tied) names += ", embedding_group";
  return "\n# PyTorch may abort if a process group outlives the interpreter: its users are deleted first.\n"
         "dist.barrier()\ndel " +
         names + "\ngc.collect()\ndist.destroy_process_group()\n";
}

}  // namespace

std::string optimizer(const Subject& subject) {
  const TrainSpec& train = subject.train();
  const TorchOptimizer rule = torch_optimizer(train);
  const double decay = resolved(train.hyper, optimizer_rule(train.optimizer).defaults).weight_decay.value_or(0);
  std::string text = section("The optimizer");
  text += fmt::format(
      "# Weight decay applies only to matrices, not to biases and norms.\n"
      "groups = [\n    {{\"params\": [p for _, p in parameters if p.dim() > 1], \"weight_decay\": {}}},\n"
      "    {{\"params\": [p for _, p in parameters if p.dim() == 1], \"weight_decay\": 0.0}},\n]\n",
      plain(decay));
  const std::string rate = "lr=" + plain(train.learning_rate);
  if (subject.zero() == 1)
    text += fmt::format(
        "# ZeRO 1: each replica has the states of a share, updates it, and sends it to the others (purpose "
        "`zero_parameter`).\n"
        "optimizer = ZeroRedundancyOptimizer(\n    groups, optimizer_class=torch.optim.{}, "
        "process_group=mesh.get_group(\"data\"),\n    {}{},\n)\n",
        rule.name, rate, rule.options);
  else
    text += fmt::format("optimizer = torch.optim.{}(groups, {}{})\n", rule.name, rate, rule.options);
  if (subject.clips())
    text += "CLIP = " + plain(train.clip) + "  # train.clip: maximum norm of all gradients together\n";
  if (subject.rate_changes()) text += learning_rate(train);
  if (subject.clips_by_hand()) text += clip_function(subject);
  return text;
}

std::string train_steps(const Subject& subject) {
  std::string text = section("Training") +
                     "def train_step(step):\n"
                     "    \"\"\"Forward, backward and update; the loss before it, in nats per token.\"\"\"\n";
  if (subject.replicas())
    text +=
        "    count = GLOBAL_BATCH // DATA  # of this replica\n"
        "    samples = language.samples(step * GLOBAL_BATCH + data_rank * count, count)\n";
  else
    text += "    samples = language.samples(step * GLOBAL_BATCH, GLOBAL_BATCH)\n";
  text += "    optimizer.zero_grad()\n" + (subject.stages() ? pass_through_stages(subject) : pass(subject));
  if (subject.stages() && subject.model().tied)
    text += "    if stage in (0, PIPELINE - 1):\n        dist.all_reduce(token_matrix.grad, group=embedding_group)\n";
  if (subject.clips())
    text += subject.clips_by_hand() ? "    clip_gradients()\n"
                                    : "    torch.nn.utils.clip_grad_norm_([p for _, p in parameters], CLIP)\n";
  if (subject.rate_changes())
    text += "    for group in optimizer.param_groups:\n        group[\"lr\"] = learning_rate(step)\n";
  return text + "    optimizer.step()\n" + step_loss(subject) + print_loss(subject) + leave(subject);
}

}  // namespace rankscope::python
