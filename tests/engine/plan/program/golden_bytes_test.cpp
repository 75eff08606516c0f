// Golden bytes: the memory of a rank of one small plan of each family, computed by hand from shapes. No size below
// comes from the code under test.
//
// The model: L = 4 blocks, width h = 16, a = 2 heads, s = 8 tokens per sample, V = 32 words, an untied head; 2 samples
// per micro-batch, so T = 16 tokens. AdamW keeps m and v. Parameters:
//
//   block   ln_1 16+16, c_attn 48·16+48, c_proj 16·16+16, ln_2 16+16, c_fc 64·16+64, c_proj 16·64+16   3280
//   model   4 blocks, wte 32·16, wpe 8·16, ln_f 16+16, lm_head 32·16                                   14304
//
// All of these are multiples of 16 elements, and the model is one of 32: the alignment of buckets adds nothing, unless
// noted.
//
// Activations, as rows of T elements:
//
//   block   mean rstd 1+1, norm1 16, qkv 48, attended 16, middle 16, mean rstd 1+1, norm2 16, pre_gelu 64,
//           activated 64, output 16                                                                    260
//           and in addition softmax, a·s numbers per sample                                            32 elements
//   first   the embedding's output                                                                     16
//   head    mean rstd 1+1, norm1 16, logits 32                                                         50
//           and in addition the loss, which only the head's forward has                                8 bytes
#include "engine/plan/program/program.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

namespace {

constexpr std::int64_t T = 16, block = 3280, embeddings = 32 * 16 + 8 * 16, head = 2 * 16 + 32 * 16;
constexpr std::int64_t model = 4 * block + embeddings + head;
static_assert(model == 14304 && model % 32 == 0);
constexpr std::int64_t block_rows = 260, block_softmax = 32, head_rows = 50, loss = 8;

/// The greatest bytes of each class over a step.
struct Golden {
  std::int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0, host = 0;
};

void check(const RankProgram& program, const Golden& golden) {
  const ClassBytes peak = memory_profile(program).peak_by_class;
  const auto of = [&](MemoryClass memory) { return peak[static_cast<std::size_t>(memory)]; };
  INFO("rank " << program.rank);
  CHECK(of(MemoryClass::parameters) == golden.parameters);
  CHECK(of(MemoryClass::gradients) == golden.gradients);
  CHECK(of(MemoryClass::optimizer) == golden.optimizer);
  CHECK(of(MemoryClass::activations) == golden.activations);
  CHECK(of(MemoryClass::host) == golden.host);
}

/// The model on `data` ranks, with two micro-batches each.
Scenario data_scenario(int data) { return small_scenario("1f1b", data, 1, 2, false); }

// One micro-batch in flight, at the head's forward: all activations of all blocks.
constexpr std::int64_t all_activations = 4 * (T * (16 + 4 * block_rows + head_rows) + 4 * block_softmax) + loss;

}  // namespace

TEST_CASE("golden bytes: one rank") {
  check(compile(data_scenario(1)).program_for(0), {4 * model, 4 * model, 8 * model, all_activations});
}

TEST_CASE("golden bytes: ZeRO's first stage has a share of the states") {
  Scenario s = data_scenario(2);
  s.plan.zero = 1;
  for (const int rank : {0, 1})
    check(compile(s).program_for(rank), {4 * model, 4 * model, 8 * model / 2, all_activations});
}

TEST_CASE("golden bytes: ZeRO's second stage keeps a share of the gradients") {
  Scenario s = data_scenario(2);
  s.plan.zero = 2;
  // The model is one bucket, so a micro-batch's complete gradients exist in addition to the share.
  for (const int rank : {0, 1})
    check(compile(s).program_for(rank), {4 * model, 4 * (model / 2 + model), 8 * model / 2, all_activations});
  // Buckets of 0.0125 MiB have at least 3277 elements: a bucket closes with the tensor that reaches this size. From the
  // model's end: the head's 544 and of block 3 c_proj 1040, ln_2 32, c_fc 1088, c_proj 272, ln_1 32 and c_attn's matrix
  // 768: 3776. Then three times the rest of a block, c_attn's bias 48, with the same part of the next block: 3280. Then
  // 48 and the embeddings: 688. Divided by two, these are padded to 3776, 3296 and 704.
  s.plan.bucket_mib = 0.0125;
  const std::int64_t share = (3776 + 3 * 3296 + 704) / 2;
  // A bucket's complete gradients are freed when the next bucket is complete. c_attn's bias is written together with
  // its matrix, so the bucket after that one has also begun by then.
  for (const int rank : {0, 1}) {
    const RankProgram program = compile(s).program_for(rank);
    const ClassBytes peak = memory_profile(program).peak_by_class;
    CHECK(peak[static_cast<std::size_t>(MemoryClass::gradients)] == 4 * (share + 3776 + 3296 + 3296));
  }
}

TEST_CASE("golden bytes: ZeRO's third stage has complete blocks only while they are used") {
  Scenario s = data_scenario(2);
  s.plan.zero = 3;
  // Divided into two shares of multiples of 16 elements: head 544 and embeddings 640 are multiples of 32, a block gets
  // 3296.
  const std::int64_t padded = 3296, share = (head + 4 * padded + embeddings) / 2;
  // A block is gathered while the block before it computes, and its gradients are reduced while the next block computes
  // its own: both times, two blocks are complete at once. The second rank's shares of blocks end in the padding, which
  // has no states.
  const StepProgram step = compile(s);
  check(step.program_for(0), {4 * (share + 2 * padded), 4 * (share + 2 * padded), 8 * share, all_activations});
  check(step.program_for(1),
        {4 * (share + 2 * padded), 4 * (share + 2 * padded), 8 * (share - 4 * 16), all_activations});
}

TEST_CASE("golden bytes: each of two tensor ranks has half of every product") {
  Scenario s = data_scenario(1);
  s.plan.tensor = 2;
  // A rank's block: complete norms, c_attn 24·16+24, c_proj 16·8 and its complete bias, c_fc 32·16+32, c_proj 16·32 and
  // its complete bias. It has 16 rows of each word matrix.
  const std::int64_t rank_block = 32 + 408 + (128 + 16) + 32 + 544 + (512 + 16);
  const std::int64_t parameters = 4 * rank_block + 2 * 16 * 16 + 8 * 16 + 32;
  // One head, and half of the columns: qkv 24, attended 8, pre_gelu and activated 32. Every rank has the complete
  // residual stream; partial sums are freed before the backward and count as buffers.
  const std::int64_t rows = (1 + 1 + 16) + 24 + 8 + 16 + (1 + 1 + 16) + 32 + 32 + 16;
  const std::int64_t activations = 4 * (T * (16 + 4 * rows + (1 + 1 + 16) + 16) + 4 * 16) + loss;
  for (const int rank : {0, 1})
    check(compile(s).program_for(rank), {4 * parameters, 4 * parameters, 8 * parameters, activations});

  // With sequence parallelism the residual stream has 8 rows instead of 16; the rows that products read are gathered
  // again for the backward, and count as buffers.
  s.plan.sequence_parallel = true;
  const std::int64_t stream = (1 + 1 + 16) + 16 + (1 + 1 + 16) + 16, products = 24 + 8 + 32 + 32;
  const std::int64_t shared = 4 * (8 * (16 + 4 * stream + (1 + 1 + 16)) + T * (4 * products + 16) + 4 * 16) + loss;
  for (const int rank : {0, 1})
    check(compile(s).program_for(rank), {4 * parameters, 4 * parameters, 8 * parameters, shared});
}

TEST_CASE("golden bytes: interleaved chunks of one block each on two stages") {
  const StepProgram step = compile(chunked_scenario("interleaved", 1, 2, 4, false));
  // Chunks 0 and 2 on the first stage, 1 and 3 on the second. Data that a chunk sends to another rank count as buffers.
  const std::int64_t first = 2 * block + embeddings, second = 2 * block + head;
  // First stage: chunk 0 four times ahead (micro-batches 0 to 3), and chunk 2 once: for micro-batch 1, while
  // micro-batch 0 has finished its backward. Chunk 0 has the embedding's output instead of its own.
  const std::int64_t on_first = 4 * (T * (4 * block_rows + (block_rows - 16)) + 5 * block_softmax);
  check(step.program_for(0), {4 * first, 4 * first, 8 * first, on_first});
  // Second stage: chunk 1 of two micro-batches, and chunk 3 with the head of one, whose backward follows immediately.
  const std::int64_t on_second = 4 * (T * (2 * (block_rows - 16) + block_rows + head_rows) + 3 * block_softmax) + loss;
  check(step.program_for(1), {4 * second, 4 * second, 8 * second, on_second});
}

TEST_CASE("golden bytes: ZB-H1 keeps longer what weight gradients read") {
  const StepProgram step = compile(small_scenario("zb-h1", 1, 2, 4, false));
  const std::int64_t first = 2 * block + embeddings, second = 2 * block + head;
  // Between its input gradient and its weight gradient a block keeps norm1 16, attended 16, norm2 16, activated 64,
  // and the gradients of qkv 48, middle 16, pre_gelu 64 and output 16.
  const std::int64_t held = 112 + 144;
  // First stage: F0 F1 I0 W0 F2 I1 W1 F3 I2 W2 I3 W3. The peak is in I0, with all of micro-batch 1: the embedding's
  // output and two blocks, the second of which sends its own output. Of micro-batch 0 the same, the received gradient
  // (16), and, in the upper block's down, the tensor that it adds before it frees anything: the gradient of pre_gelu
  // 64.
  const std::int64_t whole = 16 + 2 * block_rows - 16;
  check(step.program_for(0),
        {4 * first, 4 * first, 8 * first, 4 * (T * (whole + whole + 16 + 64) + 4 * block_softmax)});
  // Second stage: F0 I0 F1 I1 W0 F2 I2 W1 F3 I3 W2 W3. The peak is in I1, with micro-batch 0 held back: two blocks, and
  // of the head norm1 16 and logits 32. Of micro-batch 1 two blocks and the head, which has freed mean, rstd and its
  // input (18) in exchange for the gradient of that input (16); and in the upper block's down the same 64 more.
  const std::int64_t waiting = 2 * held + 16 + 32, running = 2 * block_rows + head_rows - 18 + 16 + 64;
  check(step.program_for(1), {4 * second, 4 * second, 8 * second, 4 * (T * (waiting + running) + 2 * block_softmax)});
}

TEST_CASE("golden bytes: recomputation keeps blocks' inputs, or all but attention's core") {
  Scenario s = data_scenario(1);
  s.plan.recompute = "blocks";
  // The peak is at the last block's backward: the inputs of four blocks, and a second time all of this block except its
  // output, which is not read any more.
  check(compile(s).program_for(0),
        {4 * model, 4 * model, 8 * model, 4 * (T * (4 * 16 + block_rows - 16) + block_softmax)});
  s.plan.recompute_blocks = 2;
  // Two blocks together: two inputs, and a second time the first block with its output and the second block without.
  check(compile(s).program_for(0),
        {4 * model, 4 * model, 8 * model, 4 * (T * (2 * 16 + 2 * block_rows - 16) + 2 * block_softmax)});
  s.plan.recompute = "selective";
  s.plan.recompute_blocks = 1;
  // Every block without attended and softmax, at the head's forward.
  check(compile(s).program_for(0),
        {4 * model, 4 * model, 8 * model, 4 * T * (16 + 4 * (block_rows - 16) + head_rows) + loss});
}

TEST_CASE("golden bytes: offloaded states are on the host, with a copy of what an update reads and writes") {
  Scenario s = data_scenario(1);
  s.plan.offload = "optimizer";
  // The host: m and v, gradients, parameters, and the square norm by which gradients are clipped.
  check(compile(s).program_for(0), {4 * model, 4 * model, 0, all_activations, 8 * model + 4 * model + 4 * model + 8});
}

TEST_CASE("golden bytes: only a main device has states") {
  Scenario s = data_scenario(2);
  s.plan.data_parallel = "main-device";
  const StepProgram step = compile(s);
  check(step.program_for(0), {4 * model, 4 * model, 8 * model, all_activations});
  check(step.program_for(1), {4 * model, 4 * model, 0, all_activations});
}

TEST_CASE("golden bytes: servers have shares of the model and of its states, workers the model without") {
  Scenario s = data_scenario(2);
  s.plan.data_parallel = "parameter-server";
  s.plan.servers = 3;
  // Three shares of whole 16 elements: 14304 = 3·16·298 is one of 48's multiples.
  static_assert(model % 48 == 0);
  const std::int64_t share = model / 3;
  const StepProgram step = compile(s);
  for (const int worker : {0, 1}) check(step.program_for(worker), {4 * model, 4 * model, 0, all_activations});
  // A server adds the received gradients, one worker's contribution at a time.
  for (const int server : {2, 3, 4}) check(step.program_for(server), {4 * share, 4 * (share + share), 8 * share, 0});
}

TEST_CASE("golden bytes: bf16 computes in two bytes and keeps masters, gradients and statistics in four") {
  Scenario s = data_scenario(1);
  s.plan.precision = "bf16";
  // Four of a block's rows are statistics, and two of the head's; softmax is also one.
  const std::int64_t activations =
      T * (2 * 16 + 4 * (2 * (block_rows - 4) + 4 * 4) + 2 * (head_rows - 2) + 4 * 2) + 4 * 4 * block_softmax + loss;
  check(compile(s).program_for(0), {2 * model, 4 * model, (4 + 8) * model, activations});
}
