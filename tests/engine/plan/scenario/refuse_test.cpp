// Refused scenarios and their messages. One row for each kind of error; the message is the complete line for the user.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/lesson/lab/lab.hpp"
#include "engine/plan/scenario/choices.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"
#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/scenario/refusal.hpp"
#include "tests/places.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("unknown tables and keys are refused at their position, with the nearest known one") {
  const Row rows[] = {
      {"[plan]\npipline = 4\n", {}, "s.toml:2:1: unknown key 'pipline' in [plan]; did you mean 'pipeline'?"},
      {"[plan]\n  micro = 4\n", {}, "s.toml:2:3: unknown key 'micro' in [plan]; did you mean 'micro_batches'?"},
      {"[plan]\nlayers = 4\n", {}, "s.toml:2:1: unknown key 'layers' in [plan]; it belongs in [model]"},
      {"[data]\nxyzzy = 4\n", {}, "s.toml:2:1: unknown key 'xyzzy' in [data]; [data] has source, token_bytes and seed"},
      {"[modle]\nlayers = 4\n", {}, "s.toml:1:2: unknown table [modle]; did you mean [model]?"},
      {"[zzzzzzzz]\n",
       {},
       "s.toml:1:2: unknown table [zzzzzzzz]; there is [model], [data], [plan], [train], [cluster], [software], "
       "[fault] and [lab], and the key title"},
      {"pipeline = 4\n", {}, "s.toml:1:1: unknown key 'pipeline' outside tables; it belongs in [plan]"},
      {"plan = 4\n", {}, "s.toml:1:1: plan is an integer; it is a table: write [plan] and its keys below"},
      {"[[plan]]\npipeline = 4\n", {}, "s.toml:1:3: plan is an array; it is a table: write [plan] and its keys below"},
      {"\nplan.pipline = 4\n", {}, "s.toml:2:6: unknown key 'pipline' in [plan]; did you mean 'pipeline'?"},
      {"[lab]\nanything = 1\n[plan]\nzero = 9\n",
       {},
       "s.toml:4:1: zero = 9 is out of range; it must be at least 0 and at most 3"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("a value of the wrong type is refused with an example of a right one") {
  const Row rows[] = {
      {"[model]\nlayers = \"8\"\n", {}, "s.toml:2:1: layers is a string; it takes an integer, such as layers = 8"},
      {"[model]\nlayers = 8.0\n",
       {},
       "s.toml:2:1: layers is a number with a fraction; it takes an integer, such as layers = 8"},
      {"[model]\ntied = 1\n", {}, "s.toml:2:1: tied is an integer; it takes a boolean, such as tied = true"},
      {"[plan]\nschedule = 1\n",
       {},
       "s.toml:2:1: schedule is an integer; it takes a string, such as schedule = \"1f1b\""},
      {"[train]\nlearning_rate = \"1e-3\"\n",
       {},
       "s.toml:2:1: learning_rate is a string; it takes a number, such as learning_rate = 0.1"},
      {"[train]\nsteps = [1, 2]\n", {}, "s.toml:2:1: steps is an array; it takes an integer, such as steps = 20"},
      {"[train]\nsteps = 2024-01-01\n",
       {},
       "s.toml:2:1: steps is a date or time; it takes an integer, such as steps = 20"},
      {"title = 1\n", {}, "s.toml:1:1: title is an integer; it takes a string, such as title = \"text\""},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("a number out of range is refused with the range") {
  const Row rows[] = {
      {"[model]\nlayers = 0\n", {}, "s.toml:2:1: layers = 0 is out of range; it must be at least 1 and at most 2047"},
      {"[model]\nlayers = 99999999999\n",
       {},
       "s.toml:2:1: layers = 99999999999 is out of range; it must be less than 2147483648"},
      {"[model]\ndropout = 1.0\n",
       {},
       "s.toml:2:1: dropout = 1 is out of range; it must be at least 0 and less than 1"},
      {"[train]\nlearning_rate = nan\n", {}, "s.toml:2:1: learning_rate = nan is out of range; it must be at least 0"},
      {"[train]\nlearning_rate = -1e-3\n",
       {},
       "s.toml:2:1: learning_rate = -0.001 is out of range; it must be at least 0"},
      {"[train]\nepsilon = 0\n", {}, "s.toml:2:1: epsilon = 0 is out of range; it must be greater than 0"},
      {"[train]\nseed = -1\n", {}, "s.toml:2:1: seed = -1 is out of range; it must be at least 0"},
      {"[cluster]\nintra_bandwidth = -5\n",
       {},
       "s.toml:2:1: intra_bandwidth = -5 is out of range; it must be at least 0"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("invalid TOML is refused at the position of the error") {
  const std::string message = error_of([] { parse_scenario("[model]\nlayers = \n", "s.toml"); });
  INFO(message);
  CHECK(message.starts_with("s.toml:2:"));
  CHECK(message.ends_with("; a scenario is TOML: [table] lines, each followed by lines `key = value`"));
  const std::string two_on_a_line = error_of([] { parse_scenario("[plan]\ndata = 1 tensor = 1\n", "s.toml"); });
  INFO(two_on_a_line);
  CHECK(two_on_a_line.starts_with("s.toml:2:"));
  const std::string twice = error_of([] { parse_scenario("[plan]\ndata = 1\ndata = 2\n", "s.toml"); });
  INFO(twice);
  CHECK(twice.starts_with("s.toml:3:"));
  CHECK(twice.find('\n') == std::string::npos);
}

TEST_CASE("invalid plans are refused with a valid one") {
  const Row rows[] = {
      {"[plan]\nmicro_batches = 5\n[train]\nglobal_batch = 32\n",
       {},
       "s.toml:2:1: global_batch 32 cannot be cut into 5 micro-batches of whole samples; micro_batches = 4 or 8 would "
       "do, or global_batch = 30 or 35"},
      {"[plan]\ndata = 3\nmicro_batches = 2\n[train]\nglobal_batch = 32\n",
       {},
       "s.toml:2:1: global_batch 32 cannot be cut into 3 data-parallel ranks × 2 micro-batches of whole samples; "
       "global_batch = 30 or 36 would do"},
      {"[train]\nglobal_batch = 4\n[plan]\nmicro_batches = 8\n",
       {},
       "s.toml:4:1: global_batch 4 cannot be cut into 8 micro-batches of whole samples; micro_batches = 4 would do, or "
       "global_batch = 8"},
      {"[model]\nlayers = 2\n[plan]\npipeline = 4\n",
       {},
       "s.toml:4:1: 2 layers cannot be split over 4 stages; each needs a layer of its own, so at least layers = 4, or "
       "pipeline at most 2"},
      {"[model]\nheads = 5\n",
       {},
       "s.toml:2:1: width 128 cannot be divided by 5 heads; heads = 4 or 8 would do, or width = 125 or 130"},
      {"[model]\nwidth = 130\n",
       {},
       "s.toml:2:1: width 130 cannot be divided by 4 heads; heads = 2 or 5 would do, or width = 128 or 132"},
      {"[data]\nsource = \"music\"\n",
       {},
       "s.toml:2:1: unknown source 'music'; it is \"synthetic\", \"text:FILE\" or \"tokens:FILE\""},
      {"[data]\nsource = \"text:\"\n",
       {},
       "s.toml:2:1: unknown source 'text:'; it is \"synthetic\", \"text:FILE\" or \"tokens:FILE\""},
      {"[data]\nsource = \"text:/nonexistent/book.txt\"\n",
       {},
       "s.toml:2:1: the data file '/nonexistent/book.txt' is not there; a path in a scenario is relative to the "
       "scenario's folder, and source = \"synthetic\" needs none"},
      {"[data]\nsource = \"text:book.txt\"\n[model]\nvocabulary = 64\n",
       {},
       "s.toml:4:1: a text's tokens are bytes, and vocabulary is 64; vocabulary = 256 would do"},
      {"[plan]\nservers = 3\n",
       {},
       "s.toml:2:1: servers is that of parameter servers, and the plan has none; give data_parallel = "
       "\"parameter-server\", or remove servers"},
      {"[plan]\nservers = 3\nschedule = \"1f1b-async\"\n",  // it updates on its stages, not on servers
       {},
       "s.toml:2:1: servers is that of parameter servers, and the plan has none; remove servers"},
      {"[plan]\ndata = 4\n[fault]\nkill_rank = 4\nkill_step = 1\n",
       {},
       "s.toml:4:1: kill_rank is 4, and ranks are numbered 0 to 3; give a smaller one, such as kill_rank = 3"},
      {"[fault]\nkill_rank = 0\n",
       {},
       "s.toml:2:1: kill_rank and kill_step belong together (who dies, and at the start of which step); give both, or "
       "remove kill_rank"},
      {"[train]\nsteps = 3\n[fault]\nkill_rank = 0\nkill_step = 3\n",
       {},
       "s.toml:5:1: kill_step is 3, and steps are numbered 0 to 2; give a smaller one, such as kill_step = 2"},
      {"[plan]\ndata = 1048576\npipeline = 8\n",
       {},
       "s.toml:2:1: data × tensor × pipeline makes 8388608 ranks; at most 1048576 can be planned"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("unknown names are refused with the known ones") {
  const Row rows[] = {
      {"[plan]\nschedule = \"1f1c\"\n",
       {},
       "s.toml:2:1: unknown schedule '1f1c'; did you mean '1f1b'? there is naive, gpipe, 1f1b, interleaved, zb-h1, "
       "zb-h2, zb-2p, zb-v, 1f1b-async and by-hand"},
      {"[plan]\nprecision = \"float\"\n",
       {},
       "s.toml:2:1: unknown precision 'float'; did you mean 'fp32'? there is fp64, fp32, bf16 and fp16"},
      {"[train]\noptimizer = \"adamx\"\n",
       {},
       "s.toml:2:1: unknown optimizer 'adamx'; did you mean 'adam'? there is sgd, momentum, adagrad, adam, adamw, "
       "radam, adafactor, adam8bit, sophia, lars and lamb"},
      {"[train]\ndecay = \"cosin\"\n",
       {},
       "s.toml:2:1: unknown decay 'cosin'; did you mean 'cosine'? there is none, linear and cosine"},
      {"[model]\nkind = \"bert\"\n", {}, "s.toml:2:1: unknown kind 'bert'; there is gpt, llama, resnet and collective"},
      {"[fault]\nplant = \"tulip\"\n",
       {},
       "s.toml:2:1: unknown plant 'tulip'; there is gradient_scale, dropped_micro_batch, skipped_norm_term, "
       "norm_counted_twice, untied_embedding, unsynchronised_norms, unmasked_padding, "
       "early_gather_read, overflow and lost_part"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("a key that the optimizer does not use is refused, with the optimizers that do") {
  const Row rows[] = {
      {"[train]\noptimizer = \"sgd\"\nbeta1 = 0.9\n",
       {},
       "s.toml:3:1: optimizer \"sgd\" has no beta1; remove beta1, or choose an optimizer that has it: adam, adamw, "
       "radam, adam8bit, sophia and lamb"},
      {"[train]\nnesterov = false\n",
       {},
       "s.toml:2:1: optimizer \"adamw\" has no nesterov; remove nesterov, or choose an optimizer that has it: "
       "momentum"},
      {"[train]\noptimizer = \"adafactor\"\nepsilon2 = 1e-4\n",
       {"optimizer=radam"},
       "--set optimizer=radam: optimizer \"radam\" has no epsilon2; remove epsilon2, or choose an optimizer that "
       "has "
       "it: adafactor"},
      {"[train]\noptimizer = \"momentum\"\nmomentum = 1\n",
       {},
       "s.toml:3:1: momentum = 1 is out of range; it must be at least 0 and less than 1"},
      {"[train]\noptimizer = \"momentum\"\nnesterov = 1\n",
       {},
       "s.toml:3:1: nesterov is an integer; it takes a boolean, such as nesterov = true"},
      {"[train]\noptimizer = \"sophia\"\nhessian_interval = 0\n",
       {},
       "s.toml:3:1: hessian_interval = 0 is out of range; it must be at least 1 and at most 2147483647"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("an implausible learning rate is refused") {
  const Row rows[] = {
      {"[train]\nmin_learning_rate = 1e-5\n",
       {},
       "s.toml:2:1: min_learning_rate without a decay means nothing; give decay = \"linear\" or \"cosine\""},
      {"[train]\ndecay_steps = 5\n",
       {},
       "s.toml:2:1: decay_steps without a decay means nothing; give decay = \"linear\" or \"cosine\""},
      {"[train]\ndecay = \"linear\"\nlearning_rate = 1e-4\nmin_learning_rate = 1e-3\n",
       {},
       "s.toml:4:1: min_learning_rate 0.001 is above the learning_rate 1e-04 that decays to it; min_learning_rate = "
       "1e-04 would do"},
      {"[train]\ndecay = \"cosine\"\nwarmup_steps = 10\ndecay_steps = 10\n",
       {},
       "s.toml:4:1: a decay that ends at step 10 does so within the warm-up of 10 steps; decay_steps = 11 would do, or "
       "warmup_steps = 9"},
      {"[train]\nwarmup_steps = -1\n",
       {},
       "s.toml:2:1: warmup_steps = -1 is out of range; it must be at least 0 and at most 2147483647"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("what tensor ranks cannot share in equal parts is refused") {
  const Row rows[] = {
      {"[plan]\ntensor = 3\n", {}, "s.toml:2:1: 4 heads cannot be shared by 3 tensor ranks; tensor = 2 or 4 would do"},
      {"[model]\nheads = 16\n[plan]\ntensor = 8\n[train]\noptimizer = \"adafactor\"\n",
       {},
       "s.toml:6:1: optimizer \"adafactor\" updates elements of a tensor together, and each of 8 tensor ranks has a "
       "part of it; use tensor = 1, or another optimizer"},
      {"[train]\noptimizer = \"adam8bit\"\n",
       {"tensor=2"},
       "--set tensor=2: optimizer \"adam8bit\" updates elements of a tensor together, and each of 2 tensor ranks has a "
       "part of it; use tensor = 1, or another optimizer"},
      {"[model]\ncontext = 63\n[plan]\ntensor = 4\nsequence_parallel = true\n[train]\nglobal_batch = 1\n",
       {},
       "s.toml:5:1: a micro-batch of 63 tokens cannot be shared by 4 tensor ranks; context = 60 or 64 would do, or "
       "sequence_parallel = false"},
  };
  for (const Row& row : rows) check(row);
  // With one rank there is nothing to share: a sweep over tensor may leave the key unchanged.
  CHECK_NOTHROW(parse_scenario("[plan]\nsequence_parallel = true\n", "s.toml"));
}

TEST_CASE("a number of blocks for a recomputation that has none is refused") {
  check({"[plan]\nrecompute = \"sqrt\"\nrecompute_blocks = 2\n",
         {},
         "s.toml:3:1: recompute_blocks = 2 says of how many blocks recompute = \"blocks\" keeps one input, but "
         "recompute is \"sqrt\"; recompute_blocks = 1 would do, or recompute = \"blocks\""});
  // No recomputation is possible here, so the message suggests none.
  check(
      {"[model]\ntied = false\n[plan]\nschedule = \"1f1b-async\"\npipeline = 2\nmicro_batches = 4\n"
       "recompute_blocks = 2\n",
       {},
       "s.toml:7:1: recompute_blocks = 2 says of how many blocks recompute = \"blocks\" keeps one input, but "
       "recompute is \"none\"; recompute_blocks = 1 would do"});
}

TEST_CASE("the error message about an override names it") {
  const char* const text = "[model]\nlayers = 8\n[plan]\npipeline = 4\n";
  const Row rows[] = {
      {text,
       {"plan.pipeline=x"},
       "--set plan.pipeline=x: pipeline is a string; it takes an integer, such as pipeline = 4"},
      {text,
       {"plan.pipeline=0"},
       "--set plan.pipeline=0: pipeline = 0 is out of range; it must be at least 1 and at most 4095"},
      {text,
       {"pipeline=16"},
       "--set pipeline=16: 8 layers cannot be split over 16 stages; each needs a layer of its own, so at least layers "
       "= 16, or "
       "pipeline at most 8"},
      {text,
       {"layers=2"},
       "--set layers=2: 2 layers cannot be split over 4 stages; each needs a layer of its own, so at least layers = 4, "
       "or pipeline at most 2"},
      {"[plan]\npipeline = 4\n[fault]\nslow_rank = 3\n",
       {"pipeline=2"},
       "--set pipeline=2: slow_rank is 3, and ranks are numbered 0 to 1; give a smaller one, such as slow_rank = 1"},
      {text, {"pipline=4"}, "--set pipline=4: unknown key 'pipline'; did you mean 'pipeline'?"},
      {text, {"foo=1"}, "--set foo=1: unknown key 'foo'; write table.key, such as plan.pipeline"},
      {text, {"lr=1"}, "--set lr=1: unknown key 'lr'; did you mean 'learning_rate'?"},
      {text, {"tp=2"}, "--set tp=2: unknown key 'tp'; did you mean 'tensor'?"},
      {text, {"pp=2"}, "--set pp=2: unknown key 'pp'; did you mean 'pipeline'?"},
      {text, {"dp=2"}, "--set dp=2: unknown key 'dp'; did you mean 'data'?"},
      {text, {"seq_len=2"}, "--set seq_len=2: unknown key 'seq_len'; did you mean 'context'?"},
      {text, {"hidden-size=2"}, "--set hidden-size=2: unknown key 'hidden-size'; did you mean 'width'?"},
      {text, {"dtype=bf16"}, "--set dtype=bf16: unknown key 'dtype'; did you mean 'precision'?"},
      {text, {"batch_size=2"}, "--set batch_size=2: unknown key 'batch_size'; did you mean 'global_batch'?"},
      {text, {"zero_stage=2"}, "--set zero_stage=2: unknown key 'zero_stage'; did you mean 'zero'?"},
      {text, {"plan.tp=2"}, "--set plan.tp=2: unknown key 'tp' in [plan]; did you mean 'tensor'?"},
      {text, {"plan.lr=2"}, "--set plan.lr=2: unknown key 'lr' in [plan]; did you mean 'learning_rate' of [train]?"},
      {text,
       {"recompute=full"},
       "--set recompute=full: unknown recompute 'full'; did you mean 'blocks'? there is none, blocks, sqrt and "
       "selective"},
      {text, {"plan.layers=4"}, "--set plan.layers=4: unknown key 'layers' in [plan]; it belongs in [model]"},
      {text, {"plna.data=4"}, "--set plna.data=4: unknown table 'plna'; did you mean 'plan.data'?"},
      {text,
       {"seed=4"},
       "--set seed=4: several tables have a key 'seed'; write data.seed and train.seed, so give the table"},
      {text, {"pipeline"}, "--set pipeline: there is no '='; write key=value, such as plan.pipeline=4"},
      {text, {"=4"}, "--set =4: there is no key; write key=value, such as plan.pipeline=4"},
      {text, {"pipeline="}, "--set pipeline=: pipeline is a string; it takes an integer, such as pipeline = 4"},
      {text, {"cluster.spec=selene", "data=4", "pipeline=2", "nodes=0"}, "no error"},
      {text,
       {"cluster.spec=laptop", "cluster.nodes=1", "cluster.devices_per_node=2"},
       "--set cluster.nodes=1: the plan has 4 ranks, and cluster 'laptop' has 2 devices (1 node of 2); use fewer "
       "ranks, "
       "or set cluster.nodes = 0 for as many nodes as it takes"},
      {text,
       {"cluster.spec=laptop", "cluster.devices_per_card=3"},
       "--set cluster.devices_per_card=3: 8 devices of a node cannot be on cards of 3; devices_per_card = 1 would do"},
      {text,
       {"cluster.spec=laptop", "cluster.devices_per_card=4"},
       "--set cluster.devices_per_card=4: 4 devices on a card have a link of their own, and it is not described; give "
       "card_bandwidth and card_latency_s, or use devices_per_card = 1"},
      {text,
       {"software.schedule=x"},
       "--set software.schedule=x: unknown key 'schedule' in [software]; it belongs in [plan]"},
      {"[software]\nreduced_bytes = 3\n",
       {},
       "s.toml:2:1: reduced_bytes = 3: a gradient's element has 2, 4 or 8 bytes; reduced_bytes = 0 stands for those of "
       "its type"},
      {"[software]\nattention = \"flashy\"\n",
       {},
       "s.toml:2:1: unknown attention 'flashy'; did you mean 'flash'? there is flash and stored"},
      {"[cluster]\nattention = \"flashy\"\n",
       {},
       "s.toml:2:1: unknown attention 'flashy'; did you mean 'flash'? there is flash and stored"},
      {"[cluster]\nfused = true\n[software]\nfused = true\n",
       {},
       "s.toml:4:1: fused is given twice, here and at s.toml:2:1: it is a key of [software], which files once had in "
       "[cluster]; remove one of the two"},
      {"[cluster]\noverlapp = true\n",
       {},
       "s.toml:2:1: unknown key 'overlapp' in [cluster]; did you mean 'overlap' of [software]?"},
      {"[plan]\nschedule = \"zb\"\n", {"schedule=1f1b"}, "no error"},
      {text,
       {"cluster.reduced_bytes=3"},
       "--set cluster.reduced_bytes=3: reduced_bytes = 3: a gradient's element has 2, 4 or 8 bytes; reduced_bytes = 0 "
       "stands for those of its type"},
      {text,
       {"cluster.quick_share=-1"},
       "--set cluster.quick_share=-1: quick_share = -1 is out of range; it must be at least 0 and at most 1"},
      {"[cluster]\nquick_share = -1\n",
       {},
       "s.toml:2:1: quick_share = -1 is out of range; it must be at least 0 and "
       "at most 1"},
      {text,
       {"cluster.spec=moon"},
       "--set cluster.spec=moon: unknown cluster 'moon'; known: dgx-a100, dgx-b200, frontier, gb200-nvl72, h100, h200, "
       "jean-zay, l40s, laptop, mi300x, p100-pcie, rtx-4090, selene, tpu-v3 and v100-dgx2h; or give the path of its "
       "file"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("the width of a file's tokens fits the source and the vocabulary") {
  const Row rows[] = {
      {"[data]\nsource = \"tokens:x\"\ntoken_bytes = 3\n",
       {},
       "s.toml:3:1: token_bytes = 3: a file's tokens have 16 or 32 bits; use 2 or 4"},
      {"[data]\ntoken_bytes = 4\n",
       {},
       "s.toml:2:1: token_bytes = 4 says how source = \"tokens:FILE\" is read, and the source is \"synthetic\"; remove "
       "token_bytes"},
      {"[model]\nvocabulary = 128256\n[data]\nsource = \"tokens:x\"\n",
       {},
       "s.toml:2:1: tokens of 16 bits are below 65536, and vocabulary is 128256; a file for it has token_bytes = 4"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("missing and invalid files are refused by name") {
  CHECK(error_of([] { read_scenario("/nonexistent/lab.toml"); }) ==
        "/nonexistent/lab.toml:1:1: cannot read the file: no such file; give the path of a scenario file "
        "(TOML)");
  CHECK(error_of([] { read_scenario("/tmp"); }) ==
        "/tmp:1:1: cannot read the file: it is a folder; give the path of a scenario file (TOML)");
}

TEST_CASE("a cluster file is checked by the same rules, with its own positions") {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("rankscope-refuse-" + std::to_string(::getpid()));
  fs::create_directories(root / "clusters");
  const std::string scenario = (root / "s.toml").string(), cluster = (root / "clusters" / "mine.toml").string();
  std::ofstream(scenario) << "[cluster]\nspec = \"mine\"\n";
  const auto with = [&](const std::string& text) {
    std::ofstream(cluster) << text;
    return error_of([&] { read_scenario(scenario); });
  };
  CHECK(with("[cluster]\nmemory = 5\n") ==
        cluster + ":2:1: unknown key 'memory' in [cluster]; did you mean 'memory_bytes'?");
  CHECK(with("[plan]\n") ==
        cluster + ":1:2: a cluster file has no 'plan'; it has a title and the tables [cluster] and [software]");
  CHECK(with("[cluster]\nmemory_bytes = 16e9\nop_overhead_s = 3e-6\nproduct_efficiency = 0.8\nmultiprocessors = 0\n") ==
        cluster +
            ":1:1: the cluster's file lacks peak_flops_fp32 19.5e12, memory_bandwidth 2e12 and "
            "memory_efficiency 0.6; give them (values: a DGX A100), and their sources");
  const std::string whole =
      "[cluster]\npeak_flops_fp32 = 1\nmemory_bytes = 1\nmemory_bandwidth = 1\nop_overhead_s = 1\nmultiprocessors = 0\n"
      "product_efficiency = 1\nmemory_efficiency = 1\n";
  CHECK(with(whole) == "no error");
  CHECK(with(whole + "quick_share = -1\n").starts_with(cluster + ":"));
  CHECK(with(whole + "quick_share = -1\n")
            .ends_with(": quick_share = -1 is out of range; it must be at least 0 and at "
                       "most 1"));
  CHECK(with(whole + "spec = \"other\"\n") == "no error");
  fs::remove_all(root);
}

TEST_CASE("a damaged file is read or refused in one line, never anything else") {
  std::ifstream file(source_folder() + "/scenarios/labs/pipeline-1f1b.toml");
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(good.size() > 1000);
  const std::string bytes("\0\n=[]{}\"'#.,-\\ e9\xff\xc3", 20);
  int refused = 0;
  for (std::uint64_t round = 0; round < 1500; ++round) {
    std::string text = good;
    for (std::uint64_t i = 0; i < 1 + round % 3; ++i) {
      // Half of the damage is to the keys, which are at the beginning; the lesson's text is long.
      const std::uint64_t at = random_bits(round, 1, 3 * i) % (round % 2 == 0 ? 700 : text.size());
      const std::uint64_t what = random_bits(round, 1, 3 * i + 1);
      if (what % 4 == 0)
        text.erase(at, 1 + what / 4 % 20);
      else if (what % 4 == 1)
        text.insert(at, 1, bytes[random_bits(round, 1, 3 * i + 2) % bytes.size()]);
      else
        text[at] = bytes[random_bits(round, 1, 3 * i + 2) % bytes.size()];
    }
    const std::string message = error_of([&] {
      parse_scenario(text, "s.toml");
      parse_lab(text, "s.toml");
    });
    INFO(message);
    CHECK(message.find('\n') == std::string::npos);
    if (message == "no error") continue;
    ++refused;
    CHECK(message.starts_with("s.toml:"));
    CHECK(message.find("; ") != std::string::npos);
  }
  CHECK(refused > 500);
}

TEST_CASE("a scenario made in memory is checked by the names of its keys") {
  Scenario scenario;
  CHECK(error_of([&] { check_scenario(scenario); }) == "no error");
  scenario.plan.pipeline = 9;
  CHECK(error_of([&] { check_scenario(scenario); }).starts_with("plan.pipeline: 8 layers cannot be split"));
  scenario = {};
  scenario.model.heads = 0;
  CHECK(error_of([&] { check_scenario(scenario); }) ==
        "model.heads: heads = 0 is out of range; it must be at least 1 and at most 65536");
  scenario = {};
  scenario.train.seed = ~std::uint64_t{0};
  CHECK(error_of([&] { check_scenario(scenario); }).starts_with("train.seed: "));
}
