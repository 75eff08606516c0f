// Bad input is refused before anything starts: one line with the place, the error and the correction.
#include <algorithm>
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

using Arguments = std::vector<std::string>;

struct Refused {
  Arguments arguments;
  std::string begins;  ///< the line on standard error; DIR is replaced by the test's folder
  std::vector<std::string> holds;
};

std::string with_folder(std::string text, const Folder& folder) {
  for (std::size_t at = 0; (at = text.find("DIR")) != std::string::npos;) text.replace(at, 3, folder.path().string());
  return text;
}

void check(const Folder& folder, const Refused& row) {
  Arguments arguments;
  std::string typed;
  for (const std::string& argument : row.arguments) {
    arguments.push_back(with_folder(argument, folder));
    typed += " " + arguments.back();
  }
  INFO("rankscope-engine" << typed);
  const bool run = !arguments.empty() && arguments[0] == "run";
  const bool records = std::find(arguments.begin(), arguments.end(), "--record") != arguments.end();
  if (run && !records) arguments.insert(arguments.end(), {"--record", (folder / "none.mcap").string()});
  const Ended ended = engine(folder, arguments);
  INFO(ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.out == "");
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK(ended.err.substr(0, with_folder(row.begins, folder).size()) == with_folder(row.begins, folder));
  for (const std::string& words : row.holds) {
    INFO(words);
    CHECK(ended.err.find(words) != std::string::npos);
  }
  CHECK(ended.err.size() < 500);
  CHECK(!std::filesystem::exists(folder / "none.mcap"));
  CHECK(folder.sessions().empty());
  CHECK(folder.processes().empty());
}

/// A scenario file for a test, by its relevant lines.
std::string scenario(const std::string& lines) { return "title = \"mine\"\n" + lines; }

}  // namespace

TEST_CASE("an invalid scenario is refused at its line and column") {
  const Folder folder;
  folder.file("batch.toml", scenario("[plan]\nmicro_batches = 5\n[train]\nglobal_batch = 32\n"));
  folder.file("layers.toml", scenario("[model]\nlayers = 2\n[plan]\npipeline = 4\n"));
  folder.file("key.toml", scenario("[plan]\n  pipline = 4\n"));
  folder.file("schedule.toml", scenario("[plan]\nschedule = \"2f2b\"\n"));
  folder.file("heads.toml", scenario("[model]\nheads = 5\n"));
  folder.file("type.toml", scenario("[model]\nlayers = \"eight\"\n"));
  folder.file("toml.toml", scenario("[model\nlayers = 8\n"));
  folder.file("cluster.toml", scenario("[cluster]\nspec = \"moonbase\"\n"));
  folder.file("data.toml", scenario("[data]\nsource = \"text:nowhere.txt\"\n"));
  folder.file("short.txt", "abc");
  folder.file("short.toml", scenario("[data]\nsource = \"text:short.txt\"\n"));
  folder.file("odd.bin", std::string(1001, '\0'));
  folder.file("odd.toml", scenario("[data]\nsource = \"tokens:odd.bin\"\n"));
  folder.file("large.bin", std::string(2000, '\x7f'));
  folder.file("large.toml", scenario("[data]\nsource = \"tokens:large.bin\"\n"));
  folder.file("killed.toml", scenario("[plan]\ndata = 2\n[fault]\nkill_rank = 2\nkill_step = 1\n"));
  folder.file("noise.toml", std::string("\x80\x81\xff\x00[[", 6));
  const std::vector<Refused> rows{
      {{"run", "DIR/batch.toml"}, "DIR/batch.toml:3:1: ", {"cannot be cut into 5 micro-batches", "4 or 8 would do"}},
      {{"run", "DIR/layers.toml"}, "DIR/layers.toml:5:1: ", {"2 layers cannot be split over 4 stages", "at most 2"}},
      {{"run", "DIR/key.toml"}, "DIR/key.toml:3:3: ", {"unknown key 'pipline'", "did you mean 'pipeline'?"}},
      {{"run", "DIR/schedule.toml"}, "DIR/schedule.toml:3:1: ", {"unknown schedule '2f2b'", "1f1b"}},
      {{"run", "DIR/heads.toml"}, "DIR/heads.toml:3:1: ", {"cannot be divided by 5 heads", "heads = 4 or 8"}},
      {{"run", "DIR/type.toml"}, "DIR/type.toml:3:1: ", {"layers is a string", "such as layers = 8"}},
      {{"run", "DIR/toml.toml"}, "DIR/toml.toml:2:", {"a scenario is TOML"}},
      {{"run", "DIR/noise.toml"}, "DIR/noise.toml:1:", {"a scenario is TOML"}},
      {{"run", "DIR/cluster.toml"}, "DIR/cluster.toml:3:1: ", {"unknown cluster 'moonbase'"}},
      {{"run", "DIR/data.toml"}, "DIR/data.toml:3:1: ", {"nowhere.txt' is not there", "relative to the scenario"}},
      {{"run", "DIR/short.toml"}, "DIR/short.toml:3:1: ", {"short.txt: it has 3 tokens", "needs 65"}},
      {{"run", "DIR/odd.toml"}, "DIR/odd.toml:3:1: ", {"1001 bytes, which is no multiple of 2", "16 bits"}},
      {{"run", "DIR/large.toml"}, "DIR/large.toml:3:1: ", {"token 0 is 32639", "must be below"}},
      {{"run", "DIR/killed.toml"}, "DIR/killed.toml:5:1: ", {"kill_rank is 2", "0 to 1"}},
      {{"run", "DIR/none.toml"}, "DIR/none.toml:1:1: ", {"no such file", "scenario file"}},
      {{"run", "DIR"}, "DIR:1:1: ", {"it is a folder"}},
      {{"run", "/dev/zero"}, "/dev/zero:1:1: ", {"larger than"}},
  };
  for (const Refused& row : rows) check(folder, row);
  // All commands read a scenario in the same way.
  for (const char* command : {"plan", "simulate", "verify"})
    for (Refused row : {rows[0], rows[2], rows[11], rows[15]}) {
      row.arguments[0] = command;
      check(folder, row);
    }
}

TEST_CASE("an invalid override is refused with what was typed") {
  const Folder folder;
  const std::string file = lab("pipeline-1f1b");
  const std::vector<Refused> rows{
      {{"run", file, "--set", "micro_batches=5"}, "--set micro_batches=5: ", {"4 or 8 would do"}},
      {{"run", file, "--set", "pipline=4"}, "--set pipline=4: ", {"did you mean 'pipeline'?"}},
      {{"run", file, "--set", "pipeline"}, "--set pipeline: ", {"there is no '='", "key=value"}},
      {{"run", file, "--set", "seed=1"}, "--set seed=1: ", {"data.seed and train.seed"}},
      {{"run", file, "--set", "data.source=text:/nonexistent/book"}, "--set data.source=", {"is not there"}},
      {{"run", file, "--set", "layers=99999999999"}, "--set layers=99999999999: ", {"out of range"}},
      {{"run", file, "--steps", "5", "--set", "kill_rank=1", "--set", "kill_step=7"},
       "--set kill_step=7: ",
       {"kill_step is 7", "0 to 4"}},
  };
  for (const Refused& row : rows) check(folder, row);
}

TEST_CASE("invalid options are refused by name, with valid ones") {
  const Folder folder;
  const std::string file = lab("pipeline-1f1b");
  const std::vector<Refused> rows{
      {{}, "rankscope-engine: ", {"subcommand is required", "--help"}},
      {{"frobnicate"},
       "rankscope-engine: ",
       {"unknown command 'frobnicate'",
        "plan, simulate, run, verify, sweep, validate, search, paths, peak, export, export-torch, lessons and keys"}},
      {{"search", file, "--best", "0"}, "rankscope-engine: --best: ", {"'0'", "from 1"}},
      {{"search", file, "--budget", "5"}, "--budget: ", {"--strategy bayes", "leave it out"}},
      {{"search", file, "--seed", "1", "--strategy", "exhaustive"}, "--seed: ", {"--strategy random"}},
      {{"simulate", file, "--tokens", "300B"},
       "rankscope-engine: --tokens: '300B' is not a number of tokens; write 300e9",
       {}},
      {{"simulate", file, "--tokens", "1.5T"}, "rankscope-engine: --tokens: ", {"write 1.5e12"}},
      {{"simulate", file, "--tokens", "inf"}, "rankscope-engine: --tokens: ", {"not a number of tokens"}},
      {{"simulate", file, "--tokens", "1e300"}, "rankscope-engine: --tokens: ", {"out of range", "1e18"}},
      {{"simulate", file, "--tokens=-1"}, "rankscope-engine: --tokens: ", {"out of range"}},
      {{"simulate", file, "--tokens", "0"}, "rankscope-engine: --tokens: ", {"out of range"}},
      {{"search", file, "--strategy", "clever"}, "rankscope-engine: --strategy: ", {"clever", "bayes"}},
      {{"run"}, "rankscope-engine: ", {"SCENARIO is required"}},
      {{"plan", file, "more"}, "rankscope-engine: ", {"more"}},
      {{"verify", file, "--steps", "3"}, "rankscope-engine: ", {"--steps"}},
      {{"plan", file, "--program", "4"}, "--program 4: ", {"0 … 3"}},
      {{"plan", file, "--program", "-1"}, "rankscope-engine: --program: ", {"'-1'", "from 0"}},
      {{"run", file, "--steps", "0"}, "rankscope-engine: --steps: ", {"'0'", "from 1"}},
      {{"run", file, "--steps", "3x"}, "rankscope-engine: --steps: ", {"'3x'", "whole number"}},
      {{"run", file, "--threads", "0"}, "rankscope-engine: --threads: ", {"in range", "256"}},
      {{"run", file, "--comm", "pigeons"}, "rankscope-engine: --comm: ", {"pigeons", "loopback,mpi,nccl"}},
      {{"verify", file, "--comm", "nccl"}, "--comm nccl: ", {"--device cuda"}},
      {{"run", file, "--device", "gpu"}, "rankscope-engine: --device: ", {"gpu", "cpu,cuda,sleep"}},
      {{"run", file, "--without", "gelu"}, "--without: ", {"use --device cuda"}},
      {{"verify", file, "--without", "gelu"}, "--without: ", {"use --device cuda"}},
      {{"run", file, "--device", "cuda", "--without", "gelu,fast"},
       "rankscope-engine: --without: ",
       {"fast", "attention,cudnn,gelu,bias-gradient"}},
      {{"run", file, "--clock", "sundial"}, "rankscope-engine: --clock: ", {"sundial", "wall,device"}},
      {{"run", file, "--device", "sleep", "--clock", "device"}, "--clock device: ", {"use --clock wall"}},
      {{"run", file, "--keep", "every:0"}, "--keep: ", {"'every:0'", "last:TIME"}},
      {{"run", file, "--record", "/nonexistent/x.mcap"},
       "rankscope-engine: --record /nonexistent/x.mcap: ",
       {"No such"}},
      {{"run", file, "--record", "DIR"}, "rankscope-engine: --record DIR: ", {"is a folder"}},
      {{"run", file, "--join-file", "/nonexistent/join"}, "rankscope-engine: /nonexistent/join: ", {"No such"}},
  };
  for (const Refused& row : rows) check(folder, row);
}

TEST_CASE("invalid requests for optimizers' paths are refused with what was typed and the remedy") {
  const Folder folder;
  const std::vector<Refused> rows{
      {{"paths", "ravin"}, "paths: unknown surface 'ravin'; ", {"did you mean 'ravine'?"}},
      {{"paths", "hill"}, "paths: unknown surface 'hill'; ", {"ravine, saddle, two-minima, rosenbrock and beale"}},
      {{"paths", "--optimizer", "sgd,adm"}, "--optimizer: unknown optimizer 'adm'; ", {"did you mean 'adam'?"}},
      {{"paths", "--rate", "sgd=fast"}, "--rate sgd=fast: ", {"'fast' is no number"}},
      {{"paths", "--rate", "0"}, "--rate 0: ", {"greater than 0"}},
      {{"paths", "--optimizer", "sgd", "--rate", "adam=0.1"}, "--rate adam=0.1: ", {"adam is not selected"}},
      {{"paths", "--steps", "0"}, "rankscope-engine: --steps: ", {"'0'", "from 1"}},
      {{"paths", "--steps", "100001"}, "--steps 100001: ", {"at most 100000"}},
      {{"paths", "--noise=-1"}, "--noise: ", {"0 or greater"}},
      {{"paths", "--start", "3"}, "--start 3: ", {"X,Y"}},
      {{"paths", "--start=1e6,0"}, "--start 1e6,0: ", {"too far away", "from -4.6 to 2.4"}},
      {{"paths", "--condition", "0.5"}, "--condition: ", {"from 1 to"}},
      {{"paths", "beale", "--condition", "5"}, "--condition applies to the ravine only; ", {"beale has none"}},
      {{"paths", "--set", "momentum=2"}, "--set train.momentum=2: ", {"less than 1"}},
      {{"paths", "--set", "layers=2"}, "--set layers=2: ", {"uses it"}},
      {{"paths", "--optimizer", "sgd", "--set", "momentum=0.5"}, "--set momentum=0.5: ", {"none of sgd uses it"}},
  };
  for (const Refused& row : rows) check(folder, row);
}

TEST_CASE("a scenario without a PyTorch script is refused by its key, and a file that cannot be written by its name") {
  const Folder folder;
  const std::string pipeline = lab("pipeline-1f1b");
  const std::vector<Refused> rows{
      {{"export-torch", lab("pipeline-zb-h1")},
       lab("pipeline-zb-h1") + ":",
       {"plan.schedule: there is no PyTorch script of \"zb-h1\"", "\"1f1b\""}},
      {{"export-torch", pipeline, "--set", "precision=bf16"}, "--set precision=bf16: ", {"\"fp32\" or \"fp64\""}},
      {{"export-torch", pipeline, "--set", "layers=1"}, "--set layers=1: ", {"layers"}},
      {{"export-torch", pipeline, "-o", "DIR"}, "rankscope-engine: -o DIR: ", {"cannot be written: Is a directory"}},
      {{"export-torch"}, "rankscope-engine: ", {"SCENARIO is required"}},
  };
  for (const Refused& row : rows) check(folder, row);
}

TEST_CASE("invalid endpoints, and those open to others without keys, are refused") {
  const Folder folder;
  const std::string file = lab("pipeline-1f1b");
  const std::vector<Refused> rows{
      {{"run", file, "--publish", "tcp://0.0.0.0:7788"},
       "rankscope-engine: ",
       {"other machines", "no keys", "--join-file FILE", "ssh"}},
      {{"run", file, "--publish", "tcp://*:7788"}, "rankscope-engine: ", {"other machines"}},
      {{"run", file, "--publish", "tcp://127.evil.example:7788"}, "rankscope-engine: ", {"other machines"}},
      {{"run", file, "--publish", "ipc:///tmp/relay"}, "rankscope-engine: ", {"others can enter /tmp"}},
      {{"run", file, "--publish", "nonsense"}, "rankscope-engine: ", {"'nonsense' is no endpoint", "tcp://HOST:PORT"}},
      {{"run", file, "--publish", "udp://127.0.0.1:1"}, "rankscope-engine: ", {"no endpoint"}},
      {{"run", file, "--publish", "tcp://127.0.0.1"}, "rankscope-engine: ", {"has no port"}},
      {{"run", file, "--publish", "tcp://127.0.0.1:70000"}, "rankscope-engine: ", {"'70000'", "65535"}},
      {{"run", file, "--publish", "tcp://192.0.2.1:7788", "--join-file", "DIR/join"},
       "rankscope-engine: relay: ",
       {"cannot be bound"}},
  };
  for (const Refused& row : rows) check(folder, row);
  CHECK(!std::filesystem::exists(folder / "join"));
}

TEST_CASE("a missing part of the machine's software is named before anything starts") {
  const Folder folder;
  if (!can_use_mpi()) return;
  const Ended ended = engine(folder, {"run", lab("pipeline-1f1b"), "--comm", "mpi"},
                             {.environment = {"PATH=/nonexistent"}, .input = {}});
  INFO(ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.err.find("--comm mpi: no mpirun in PATH") == 0);
  CHECK(folder.sessions().empty());
}

TEST_CASE("a GPU that is not there is refused in one line, whatever asks for it") {
  const Folder folder;
  for (const char* command : {"run", "verify", "sweep"}) {
    const Ended ended = engine(folder, {command, lab("pipeline-1f1b"), "--device", "cuda"},
                               {.environment = {"CUDA_VISIBLE_DEVICES="}, .input = {}});
    INFO(command << ": " << ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.err.find("rankscope-engine: the device 'cuda' ") == 0);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  }
  CHECK(folder.sessions().empty());
}

TEST_CASE("a refused run keeps an older recording of that name") {
  const Folder folder;
  const std::string file = folder.file("yesterday.mcap", "what was measured yesterday");
  const std::vector<Arguments> refused{{"--publish", "nonsense"},
                                       {"--publish", "tcp://192.0.2.1:7788", "--join-file", (folder / "j").string()},
                                       {"--publish", "tcp://127.0.0.1:*", "--join-file", "/nonexistent/join"},
                                       {"--keep", "some"},
                                       {"--set", "pipeline=9"}};
  for (const Arguments& more : refused) {
    Arguments arguments{"run", lab("pipeline-1f1b"), "--record", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    CHECK(engine(folder, arguments).status == 2);
    CHECK(std::filesystem::file_size(file) == 27);
  }
}
