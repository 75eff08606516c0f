// One rank's trace of torch.profiler, read: real ones of gloo ranks, and such of GPUs made by hand.
#include "telemetry/import/kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include "tests/catch.hpp"
#include "tests/long.hpp"
#include "tests/places.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;
namespace imported = rankscope::import;
using imported::ImportError;
using imported::RankTrace;
using imported::TracedSpan;
using testing::TemporaryDirectory;
using Use = imported::TracedUse;

namespace {

std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(test::source_folder()) / "tests/telemetry/import/samples" / (name + ".json.gz");
}

void write(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

RankTrace read_text(const std::string& text, const std::string& name = "rank0.json") {
  const TemporaryDirectory folder;
  write(std::filesystem::path(folder / name), text);
  return imported::read_kineto(folder / name);
}

struct Sum {
  int count = 0;
  std::int64_t ns = 0;
  bool operator==(const Sum&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Sum& sum) { return out << sum.count << " of " << sum.ns << " ns"; }

Sum sum_of(const RankTrace& trace, Use use, OpKind kind) {
  Sum sum;
  for (const TracedSpan& span : trace.spans)
    if (trace.lanes[span.lane].use == use && span.kind == kind) {
      ++sum.count;
      sum.ns += span.end_ns - span.begin_ns;
    }
  return sum;
}

/// What holds for any trace: indices are valid, spans are in order, and a communication has an exchange.
void check_whole(const RankTrace& trace) {
  std::int64_t before = INT64_MIN;
  std::vector<std::int64_t> busy_until(trace.lanes.size(), INT64_MIN);
  for (const TracedSpan& span : trace.spans) {
    REQUIRE(span.lane < trace.lanes.size());
    REQUIRE(span.name < trace.names.size());
    REQUIRE(span.exchange < static_cast<std::int32_t>(trace.exchanges.size()));
    REQUIRE(is_communication(span.kind) == (span.exchange >= 0));
    REQUIRE(span.begin_ns >= before);
    REQUIRE(span.end_ns >= span.begin_ns);
    before = span.begin_ns;
  }
  for (const imported::TracedExchange& exchange : trace.exchanges) {
    REQUIRE(exchange.group >= -1);
    REQUIRE(exchange.group < static_cast<int>(trace.groups.size()));
  }
  REQUIRE(trace.lanes.size() <= 48);
  REQUIRE_FALSE(trace.steps.empty());
  REQUIRE(std::ranges::is_sorted(trace.steps, {}, &imported::TracedStep::number));
  REQUIRE(std::ranges::is_sorted(trace.memory, {}, &imported::TracedMemory::time_ns));
}

/// Events of a trace, in microseconds after `base_us`.
struct Events {
  std::string text;
  int next = 1;  ///< correlation

  void add(std::string_view json) { text += (text.empty() ? "" : ",\n") + std::string(json); }
  void complete(std::string_view category, std::string_view name, int pid, int tid, double ts, double dur,
                std::string_view arguments = "") {
    add(fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f},
  "args": {{{}}}}})",
                    category, name, pid, tid, ts, dur, arguments));
  }
  /// A kernel on a stream, launched by a thread at `launch`.
  void kernel(std::string_view name, int stream, double ts, double dur, int thread, double launch,
              std::string_view arguments = "", std::string_view category = "kernel") {
    const std::string more = arguments.empty() ? "" : ", " + std::string(arguments);
    complete("cuda_runtime", "cudaLaunchKernel", 100, thread, launch, 1, fmt::format(R"("correlation": {})", next));
    complete(category, name, 0, stream, ts, dur,
             fmt::format(R"("correlation": {}, "device": 0, "stream": {}{})", next++, stream, more));
  }
};

constexpr std::int64_t base_ns = 1'700'000'000'000'000'000;
constexpr int main_thread = 100, autograd_thread = 101;

std::string header(int rank = 0, std::string_view groups =
                                     R"([{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}])") {
  return fmt::format(R"("deviceProperties": [{{"id": 0, "name": "NVIDIA H100"}}],
"distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": 2, "pg_config": {}}},
"host_name": "node17", "baseTimeNanoseconds": {})",
                     rank, groups, base_ns);
}
std::string whole(const std::string& events, const std::string& head = header()) {
  return "{" + head + ",\n\"traceEvents\": [" + events + "]}";
}

std::string collective(std::string_view name, int elements, std::string_view group, int sequence) {
  return fmt::format(R"("Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "Group size": 2,
"dtype": "BFloat16", "Process Group Name": "{}", "Process Group Description": "default_pg",
"Process Group Ranks": "[0, 1]", "Seq": {})",
                     name, elements, elements, group, sequence);
}

/// Two steps of 1000 us: load, copy, forward, backward with an all-reduce, optimizer. Kernels run 100 us after their
/// launch, so the last ones of a step end in the next.
Events training(bool has_arguments) {
  Events e;
  for (int step = 0; step < 2; ++step) {
    const double t = 1000 * step;
    e.complete("user_annotation", fmt::format("ProfilerStep#{}", step + 5), 100, main_thread, t, 1000);
    e.complete("user_annotation", "enumerate(DataLoader)#_Single.__next__", 100, main_thread, t + 10, 40);
    e.complete("cpu_op", "aten::stack", 100, main_thread, t + 20, 10);
    e.kernel("Memcpy HtoD (Pinned -> Device)", 7, t + 160, 20, main_thread, t + 60, "", "gpu_memcpy");
    e.complete("cpu_op", "aten::linear", 100, main_thread, t + 100, 50);
    e.complete("cpu_op", "aten::addmm", 100, main_thread, t + 110, 30);
    e.kernel("sm90_gemm", 7, t + 220, 100, main_thread, t + 120);
    e.complete("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 100, autograd_thread, t + 300, 100);
    e.complete("cpu_op", "AddmmBackward0", 100, autograd_thread, t + 310, 80);
    e.kernel("sm90_gemm_backward", 7, t + 420, 200, autograd_thread, t + 320);
    const int id = 900 + step;
    e.complete("cpu_op", "record_param_comms", 100, autograd_thread, t + 405, 30,
               fmt::format(R"("External id": {}{})", id,
                           has_arguments ? ", " + collective("allreduce", 512, "0", step) : std::string()));
    e.complete("user_annotation", "nccl:all_reduce", 100, autograd_thread, t + 410, 20,
               R"("Input Dims": [[16, 32]], "Input type": ["c10::BFloat16"])");
    e.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 40, t + 630, 300,
             autograd_thread, t + 415,
             has_arguments ? collective("allreduce", 512, "0", step) : fmt::format(R"("External id": {})", id));
    e.complete("gpu_user_annotation", "nccl:all_reduce", 0, 40, t + 630, 300);
    e.complete("user_annotation", "Optimizer.step#AdamW.step", 100, main_thread, t + 900, 80);
    e.complete("cpu_op", "aten::_foreach_add_", 100, main_thread, t + 910, 60);
    e.kernel("multi_tensor_apply", 7, t + 1010, 50, main_thread, t + 920);
  }
  return e;
}

const TracedSpan& find(const RankTrace& trace, std::string_view name, std::uint32_t step) {
  for (const TracedSpan& span : trace.spans)
    if (trace.names[span.name] == name && span.step == step) return span;
  throw std::runtime_error("no span " + std::string(name));
}
const imported::TracedExchange& exchange_of(const RankTrace& trace, const TracedSpan& span) {
  return trace.exchanges.at(static_cast<std::size_t>(span.exchange));
}

}  // namespace

// The figures of samples were read from the same files by a separate Python script, which compares all pairs of events.

TEST_CASE("a real trace of DDP over gloo has its steps, computations, all-reduces and memory") {
  const RankTrace trace = imported::read_kineto(sample("ddp2_rank1"));
  check_whole(trace);
  CHECK(trace.rank == 1);
  CHECK(trace.world_size == 2);
  CHECK(trace.backend == "gloo");
  CHECK(trace.host == "vm");
  CHECK(trace.device == "cpu");
  CHECK(trace.marks_steps);
  REQUIRE(trace.steps.size() == 3);
  CHECK(trace.steps[0].number == 2);
  CHECK(trace.steps[0].begin_ns == 1795886048351085756);
  CHECK(trace.steps[2].end_ns == 1795886048448407781);
  CHECK(sum_of(trace, Use::communication, OpKind::all_reduce) == Sum{6, 36424996});
  CHECK(sum_of(trace, Use::compute, OpKind::forward) == Sum{27, 2369835});
  CHECK(sum_of(trace, Use::compute, OpKind::backward) == Sum{105, 3586057});
  CHECK(sum_of(trace, Use::compute, OpKind::optimizer) == Sum{24, 207385});
  CHECK(sum_of(trace, Use::compute, OpKind::load_batch) == Sum{3, 1222529});
  CHECK(sum_of(trace, Use::compute, OpKind::compute) == Sum{48, 373515});
  CHECK(find(trace, "all_reduce", 2).begin_ns == 1795886048374774439);
  CHECK(find(trace, "all_reduce", 2).end_ns == 1795886048379501681);
  REQUIRE(trace.groups.size() == 1);
  CHECK(trace.groups[0].name == "0");
  CHECK(trace.groups[0].ranks == std::vector<int>{0, 1});
  // gloo's events name no group: there is only one.
  CHECK(exchange_of(trace, find(trace, "all_reduce", 2)).group == 0);
  CHECK(trace.memory.size() == 250);
  CHECK(std::ranges::max(trace.memory, {}, &imported::TracedMemory::allocated).allocated == 281092);
  CHECK(trace.memory.back().allocated == 264704);
}

TEST_CASE("of four real ranks, the one that sleeps waits least in the all-reduces") {
  CHECK(sum_of(imported::read_kineto(sample("ddp4_rank0")), Use::communication, OpKind::all_reduce) ==
        Sum{6, 195590328});
  CHECK(sum_of(imported::read_kineto(sample("ddp4_rank3")), Use::communication, OpKind::all_reduce) ==
        Sum{6, 86113858});
}

TEST_CASE("a real trace of FSDP does not count the wait for parameters as computing") {
  const RankTrace trace = imported::read_kineto(sample("fsdp2_rank0"));
  check_whole(trace);
  CHECK(sum_of(trace, Use::communication, OpKind::all_gather) == Sum{12, 76755851});
  CHECK(sum_of(trace, Use::communication, OpKind::all_reduce) == Sum{6, 32050283});  // gloo's reduce-scatter
  CHECK(sum_of(trace, Use::compute, OpKind::forward) == Sum{78, 3611867});
  CHECK(sum_of(trace, Use::compute, OpKind::backward) == Sum{159, 4986045});
  // A block of 64 × 256 and 256 × 64 weights with biases, of which this rank has a half: 16,544 floats.
  CHECK(exchange_of(trace, find(trace, "all_gather", 3)).bytes == 16544 * 4);
  CHECK(exchange_of(trace, find(trace, "all_reduce", 3)).bytes == 33088 * 4);
}

TEST_CASE("real traces of a pipeline over gloo have sends and receives with their peers") {
  for (const int rank : {0, 1}) {
    const RankTrace trace = imported::read_kineto(sample(fmt::format("pipeline2_rank{}", rank)));
    CAPTURE(rank);
    check_whole(trace);
    const bool is_first = rank == 0;
    CHECK(sum_of(trace, Use::communication, OpKind::send) == Sum{12, is_first ? 38998620 : 39271604});
    CHECK(sum_of(trace, Use::communication, OpKind::receive) == Sum{12, is_first ? 30273718 : 23797399});
    CHECK(sum_of(trace, Use::compute, OpKind::forward) == (is_first ? Sum{63, 1799123} : Sum{96, 2974200}));
    CHECK(sum_of(trace, Use::compute, OpKind::backward) == (is_first ? Sum{156, 3162617} : Sum{180, 2848779}));
    for (const imported::TracedExchange& exchange : trace.exchanges) {
      CHECK(exchange.peer == 1 - rank);
      CHECK(exchange.bytes == 2 * 64 * 4);  // a micro-batch of two rows
    }
  }
}

TEST_CASE("a GPU's kernels have kinds, steps by their launch, and exchanges; old forms have them from the CPU's side") {
  const bool has_arguments = GENERATE(true, false);
  CAPTURE(has_arguments);
  const RankTrace trace = read_text(whole(training(has_arguments).text));
  check_whole(trace);
  CHECK(trace.device == "NVIDIA H100");
  CHECK(trace.host == "node17");
  REQUIRE(trace.steps.size() == 2);
  CHECK(trace.steps[0].number == 5);
  CHECK(trace.steps[0].begin_ns == base_ns);
  CHECK(trace.steps[0].end_ns == base_ns + 1'000'000);
  for (const std::uint32_t step : {5U, 6U}) {
    CHECK(find(trace, "sm90_gemm", step).kind == OpKind::forward);
    CHECK(find(trace, "sm90_gemm_backward", step).kind == OpKind::backward);
    CHECK(find(trace, "Memcpy HtoD (Pinned -> Device)", step).kind == OpKind::copy);
    CHECK(find(trace, "multi_tensor_apply", step).kind == OpKind::optimizer);
    const TracedSpan& reduction = find(trace, "all_reduce", step);
    CHECK(reduction.kind == OpKind::all_reduce);
    CHECK(trace.lanes[reduction.lane].use == Use::communication);
    const imported::TracedExchange& exchange = exchange_of(trace, reduction);
    CHECK(exchange.group == 0);
    CHECK(exchange.bytes == 512 * 2);
    CHECK(exchange.sequence == (has_arguments ? static_cast<std::int64_t>(step) - 5 : -1));
  }
  // Launched in step 5, run after its end.
  CHECK(find(trace, "multi_tensor_apply", 5).begin_ns == base_ns + 1'010'000);
  CHECK(trace.lanes[find(trace, "sm90_gemm", 5).lane].name == "stream 7");
  CHECK(trace.lanes[find(trace, "sm90_gemm", 5).lane].use == Use::compute);
  // Threads are the host's, with their outermost work only.
  CHECK(trace.lanes[find(trace, "aten::linear", 5).lane].use == Use::host);
  CHECK_THROWS(find(trace, "aten::addmm", 5));
  CHECK(std::ranges::none_of(trace.lanes, [](const auto& lane) { return lane.name == "stream 40"; }));
}

TEST_CASE("a kernel without arguments has those of record_param_comms with its External id") {
  Events e;
  e.complete("cpu_op", "aten::mm", 100, main_thread, 0, 10);
  e.complete("cpu_op", "record_param_comms", 100, main_thread, 20, 30,
             R"("External id": 77, )" + collective("_allgather_base", 100, "0", 9));
  e.kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 40, 100, 5, main_thread, 500,
           R"("External id": 77)");
  const RankTrace trace = read_text(whole(e.text));
  const imported::TracedExchange& exchange = exchange_of(trace, find(trace, "all_gather", 0));
  CHECK(exchange.sequence == 9);
  CHECK(exchange.bytes == 200);
}

TEST_CASE("kernels of old NCCL, RCCL and other libraries communicate by their names; others do not") {
  const auto [name, kind] = GENERATE(table<std::string, OpKind>({
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", OpKind::all_reduce},
      {"ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclDevComm*)", OpKind::reduce_scatter},
      {"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", OpKind::broadcast},
      {"void vllm::cross_device_reduce_1stage<half, 2>(half*)", OpKind::all_reduce},
      {"multimem_all_reduce_kernel", OpKind::all_reduce},
      {"void softmax<WarpAllReduce>(float*)", OpKind::compute},
      {"vectorized_gather_kernel", OpKind::compute},
      {"triton_poi_fused_all_reduce_wait_tensor_0", OpKind::compute},
  }));
  CAPTURE(name);
  Events e;
  e.kernel(name, 7, 10, 5, main_thread, 1);
  const RankTrace trace = read_text(whole(e.text));
  check_whole(trace);
  const auto found = std::ranges::find_if(
      trace.spans, [&](const TracedSpan& span) { return trace.lanes[span.lane].use != Use::host; });
  REQUIRE(found != trace.spans.end());
  CHECK(found->kind == kind);
}

TEST_CASE("messages have their peer as a world rank and no number, which each end counts for itself") {
  Events e;
  e.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 40, 10, 5, main_thread, 1,
           collective("send", 64, "0", 3) + R"(, "Dst Rank": 1)");
  e.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 40, 20, 5, main_thread, 2,
           collective("recv", 64, "0", 4) + R"(, "Src Rank": 1)");
  const RankTrace trace = read_text(whole(e.text));
  for (const char* name : {"send", "receive"}) {
    const imported::TracedExchange& exchange = exchange_of(trace, find(trace, name, 0));
    CHECK(exchange.peer == 1);
    CHECK(exchange.sequence == -1);
    CHECK(exchange.bytes == 128);
  }
}

TEST_CASE("process groups are read in all forms of pg_config") {
  const std::string form = GENERATE(R"([{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}])",
                                    R"([{"pg_name": "0", "pg_desc": "default_pg", "ranks": "[0, 1]"}])",
                                    R"([{"pg_name": "0", "pg_desc": "default_pg", "group_size": 2, "ranks": []}])",
                                    R"({"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}})",
                                    R"("[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [0, 1]}]")");
  CAPTURE(form);
  const RankTrace trace = read_text(whole(training(false).text, header(0, form)));
  REQUIRE(trace.groups.size() == 1);
  CHECK(trace.groups[0] == imported::TracedGroup{"0", "default_pg", {0, 1}});
}

TEST_CASE("an exchange without a group stays without one where several groups are possible") {
  const std::string groups = R"([{"pg_name": "0", "ranks": [0, 1]}, {"pg_name": "1", "ranks": [0, 1]}])";
  const RankTrace trace = read_text(whole(training(false).text, header(0, groups)));
  CHECK(exchange_of(trace, find(trace, "all_reduce", 5)).group == -1);
}

TEST_CASE("fields may come in any order, and times keep their nanoseconds, however they are written") {
  const auto [ts, base, begin] = GENERATE(table<std::string, std::string, std::int64_t>({
      {"5029022351085.756", "1790857026000000000", 1795886048351085756},
      {"1682725898236567", "0", 1682725898236567000},
      {"1682725898236567.123", "0", 1682725898236567123},
      {"1682725898236567.9996", "0", 1682725898236568000},
      {"1.5e3", "0", 1500000},
      {"0.001", "-1", 0},
  }));
  CAPTURE(ts);
  const RankTrace trace =
      read_text(R"({"traceEvents": [{"args": {"correlation": 3, "device": 0}, "dur": 2, "ts": )" + ts +
                R"(, "tid": 7, "pid": 0, "name": "gemm", "cat": "kernel", "ph": "X"},],
      "baseTimeNanoseconds": )" +
                base + "}");
  REQUIRE(trace.spans.size() == 1);
  CHECK(trace.spans[0].begin_ns == begin);
  CHECK(trace.spans[0].end_ns == begin + 2000);
  CHECK_FALSE(trace.marks_steps);
  CHECK(trace.spans[0].kind == OpKind::compute);
}

TEST_CASE("work before the first and after the last marked step is left out, and counted") {
  Events e = training(true);
  e.kernel("early", 7, -100, 5, main_thread, -150);
  e.kernel("late", 7, 5000, 5, main_thread, 4000);
  const RankTrace trace = read_text(whole(e.text));
  CHECK(std::ranges::none_of(trace.names, [](const auto& name) { return name == "early" || name == "late"; }));
  REQUIRE_FALSE(trace.remarks.empty());
  CHECK_THAT(trace.remarks.back(), ContainsText("left out: 4"));  // with their launches
}

TEST_CASE("activations are recomputed where a backward has operators that autograd records") {
  const std::string container = GENERATE("GeluBackward0", "CheckpointFunctionBackward");
  Events e;
  e.complete("cpu_op", "aten::linear", 100, main_thread, 0, 50, R"("Sequence number": 1, "Fwd thread id": 0)");
  e.complete("cpu_op", "autograd::engine::evaluate_function: " + container, 100, main_thread, 100, 300);
  e.complete("cpu_op", container, 100, main_thread, 105, 290, R"("Sequence number": 1, "Fwd thread id": 1)");
  e.complete("cpu_op", "aten::gelu", 100, main_thread, 110, 50, R"("Sequence number": 2, "Fwd thread id": 0)");
  e.complete("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 100, main_thread, 200, 100);
  e.complete("cpu_op", "MmBackward0", 100, main_thread, 210, 80, R"("Sequence number": 2, "Fwd thread id": 1)");
  const RankTrace trace = read_text(whole(e.text));
  CHECK(find(trace, "aten::linear", 0).kind == OpKind::forward);
  CHECK(find(trace, "aten::gelu", 0).kind == OpKind::recompute);
  CHECK(find(trace, "MmBackward0", 0).kind == OpKind::backward);
  CHECK_THROWS(find(trace, container, 0));
}

TEST_CASE("several devices in a trace have lanes of their own; a process may have the number of a device") {
  Events e;
  e.complete("kernel", "a", 0, 7, 10, 5);
  e.complete("kernel", "b", 1, 7, 20, 5);
  e.complete("cpu_op", "aten::mm", 1, 7, 0, 5);
  const RankTrace trace = read_text(whole(e.text));
  CHECK(trace.lanes[find(trace, "a", 0).lane].name == "device 0 stream 7");
  CHECK(trace.lanes[find(trace, "b", 0).lane].name == "device 1 stream 7");
  CHECK(trace.lanes[find(trace, "aten::mm", 0).lane].use == Use::host);
}

TEST_CASE("many threads share a lane, with a remark") {
  Events e;
  e.complete("kernel", "a", 0, 7, 10, 5);
  for (int thread = 0; thread < 100; ++thread) e.complete("cpu_op", "aten::mm", 100, 1000 + thread, 10, 5);
  const RankTrace trace = read_text(whole(e.text));
  check_whole(trace);
  CHECK(std::ranges::count(trace.lanes, "other threads", &imported::TracedLane::name) == 1);
  CHECK(sum_of(trace, Use::host, OpKind::compute).count + sum_of(trace, Use::host, OpKind::forward).count == 100);
  CHECK_FALSE(trace.remarks.empty());
}

TEST_CASE("memory is that of the rank's GPU, not of the CPU") {
  Events e = training(true);
  for (const auto& [type, device, bytes] : {std::tuple{0, -1, 111}, {1, 0, 222}, {1, 1, 333}})
    e.add(fmt::format(R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 100,
  "ts": 50.5, "args": {{"Total Reserved": 4096, "Total Allocated": {}, "Device Id": {}, "Device Type": {}}}}})",
                      bytes, device, type));
  const RankTrace trace = read_text(whole(e.text));
  REQUIRE(trace.memory.size() == 1);
  CHECK(trace.memory[0].time_ns == base_ns + 50'500);
  CHECK(trace.memory[0].allocated == 222);
  CHECK(trace.memory[0].reserved == 4096);
}

TEST_CASE("a rank that the trace does not know is in the file's name") {
  const auto [name, rank] = GENERATE(table<std::string, int>({{"rank3.json", 3},
                                                              {"trace_rank_12.pt.trace.json", 12},
                                                              {"rank-7.Apr_03.pt.trace.json", 7},
                                                              {"worker2.json", 2},
                                                              {"trace_4.json", -1},
                                                              {"node17_12345.1700000000000.pt.trace.json", -1},
                                                              {"trace.json", -1}}));
  CAPTURE(name);
  CHECK(read_text("{\"traceEvents\": [" + training(true).text + "]}", name).rank == rank);
}

TEST_CASE("in a folder, traces are known by their names") {
  CHECK(imported::looks_like_trace("a/rank0.pt.trace.json.gz"));
  CHECK(imported::looks_like_trace("rank0.json"));
  CHECK_FALSE(imported::looks_like_trace("run.mcap"));
  CHECK_FALSE(imported::looks_like_trace("json"));
}

TEST_CASE("a file that is no trace is refused in one line, which names it") {
  const auto text =
      GENERATE(as<std::string>{}, "", "hello", "{}", "[]", "{\"traceEvents\": 3}", "{\"traceEvents\": []}",
               "{\"traceEvents\": [3]}", "{\"traceEvents\": [{}", "{\"traceEvents\": [{\"ph\": \"X\"",
               R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": "soon", "dur": 1}]})",
               R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": NaN, "dur": 1}]})",
               R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1e300, "dur": 1}]})",
               R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 9e15, "dur": 9e15}]})",
               "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"\xff\xfe\"}]}", "\x1f\x8b\x08 cut");
  CAPTURE(text);
  const TemporaryDirectory folder;
  write(std::filesystem::path(folder / "bad.json"), text);
  try {
    imported::read_kineto(folder / "bad.json");
    FAIL("it was read");
  } catch (const ImportError& error) {
    CHECK_THAT(error.what(), ContainsText("bad.json: "));
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
  }
  CHECK_THROWS_AS(imported::read_kineto(folder / "missing.json"), ImportError);
  CHECK_THROWS_AS(imported::read_kineto(folder.path()), ImportError);
}

TEST_CASE("a damaged trace is read or refused in one line") {
  // 20,000 changes in the long form: bytes, cuts, and parts of one trace in another.
  Events small;
  small.complete("cpu_op", "c10d::allreduce_", 100, main_thread, 10, 5, R"("Input Dims": [[[4]]])");
  small.complete("user_annotation", "gloo:all_reduce", 100, 102, 12, 50,
                 R"("Input Dims": [[4]], "Input type": ["float"])");
  small.complete("cpu_op", "aten::mm", 100, main_thread, 20, 5);
  const std::vector<std::string> traces{whole(training(true).text), whole(small.text)};
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder / "damaged.json";
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  int read = 0, refused = 0;
  const int trials = test::is_long() ? 20'000 : 1'000;
  for (int trial = 0; trial < trials; ++trial) {
    std::string text = traces[below(2)];
    constexpr std::string_view likely = "\"{}[]:,\\0123456789-.eE\xff \n";
    for (std::size_t n = 1 + below(4); n > 0 && !text.empty(); --n) {
      const std::size_t at = below(text.size());
      switch (below(6)) {
        case 0: text[at] = static_cast<char>(below(256)); break;
        case 1: text[at] = likely[below(likely.size())]; break;
        case 2: text.erase(at, 1 + below(20)); break;
        case 3: text.insert(at, 1 + below(5), likely[below(likely.size())]); break;
        case 4: text.insert(at, traces[1].substr(below(traces[1].size()), below(60))); break;
        default:
          if (below(4) == 0) text.resize(at);
      }
    }
    write(file, text);
    CAPTURE(trial, text);
    try {
      check_whole(imported::read_kineto(file));
      ++read;
    } catch (const ImportError& error) {
      REQUIRE(std::string_view(error.what()).find('\n') == std::string_view::npos);
      ++refused;
    }
  }
  CHECK(read > trials / 20);
  CHECK(refused > trials / 20);
}

TEST_CASE("device work launched before the profiler began is left out, and what a captured graph does is not") {
  Events e = training(true);
  e.complete("kernel", "backlog", 0, 7, 5, 10, R"("correlation": 7777)");  // the first launched one begins at 160
  e.complete("kernel", "replayed", 0, 7, 500, 10, R"("correlation": 8888)");
  const RankTrace trace = read_text(whole(e.text));
  CHECK(std::ranges::count(trace.names, "backlog") == 0);
  CHECK(std::ranges::count(trace.names, "replayed") == 1);
  CHECK_THAT(trace.remarks.back(), ContainsText("left out: 1"));
}

TEST_CASE("an event with the time of another clock is left out, and counted") {
  Events e = training(true);
  e.complete("kernel", "zero", 0, 7, -1.7e15, 5);
  const RankTrace trace = read_text(whole(e.text));
  CHECK(std::ranges::count(trace.names, "zero") == 0);
  CHECK_THAT(trace.remarks.front(), ContainsText("more than a day from the others are left out: 1"));
}

TEST_CASE("events of categories that are not known are counted") {
  Events e = training(true);
  for (int i = 0; i < 3; ++i) e.complete("npu_kernel", "matmul", 0, 7, 10 * i, 5);
  const RankTrace trace = read_text(whole(e.text));
  CHECK_THAT(trace.remarks.back(), ContainsText("“npu_kernel” are not known, and are left out: 3"));
}

TEST_CASE("before 2024 the record of a collective has its sequence and the group's size among its inputs") {
  Events e;
  const std::string record =
      R"("External id": 94, "Concrete Inputs": ["", "337", "93825114103440", "0", "", "[]", "[]", "2"],
  "Input type": ["TensorList", "Scalar", "Scalar", "Scalar", "", "ScalarList", "ScalarList", "Scalar"],
  "Input Dims": [[[4, 8]], [], [], [], [], [], [], []])";
  e.complete("cpu_op", "record_param_comms", 100, main_thread, 0, 80, record);
  e.complete("user_annotation", "nccl:all_reduce", 100, main_thread, 10, 60,
             R"("Input Dims": [[4, 8]], "Input type": ["c10::Half"])");
  e.kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", 24, 100, 50, main_thread,
           40);
  const RankTrace trace = read_text(whole(e.text, header(0, "[]")));
  const imported::TracedExchange& exchange = exchange_of(trace, find(trace, "all_reduce", 0));
  CHECK(exchange.sequence == 337);
  CHECK(exchange.bytes == 32 * 2);
  REQUIRE(exchange.group >= 0);
  CHECK(trace.groups[static_cast<std::size_t>(exchange.group)].ranks == std::vector<int>{0, 1});
}

TEST_CASE("a kernel that communicates but says neither what nor with whom is of no purpose") {
  Events e;
  e.complete("kernel", "ncclDevKernel_Generic(ncclDevKernelArgs)", 0, 24, 100, 50);
  const RankTrace trace = read_text(whole(e.text));
  REQUIRE(trace.exchanges.size() == 1);
  CHECK(trace.exchanges[0].is_of_unknown_kind);
}

TEST_CASE("a number at the end of a file's name is a rank only if no other word says so") {
  CHECK(imported::rank_in_name("iteration_10.json") == -1);
  CHECK(imported::rank_in_name("rank_3.pt.trace.json.gz") == 3);
  CHECK(imported::number_at_end("run/trace_3.pt.trace.json.gz") == 3);
  CHECK(imported::number_at_end("trace.json") == -1);
}
