#include <cmath>

#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cpu/in_parallel.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

const AttentionSpec attention_sizes[] = {
    {DType::f32, 1, 1, 1, 1},    {DType::f32, 2, 7, 3, 15},   {DType::f32, 1, 33, 2, 34},
    {DType::f32, 2, 64, 2, 64},  {DType::f32, 1, 101, 1, 48}, {DType::f32, 1, 130, 2, 128},
    {DType::f32, 1, 67, 1, 128}, {DType::f32, 1, 40, 1, 80},  {DType::f32, 1, 290, 1, 64}};

const std::vector<AttentionSpec> attention_of_models{
    {DType::f32, 2, 1024, 4, 256}, {DType::f32, 1, 300, 5, 400}, {DType::f32, 1, 777, 2, 256}};

/// One head of one sample: the position of element d of row i.
struct Head {
  const AttentionSpec& spec;
  std::int64_t sample, head;
  std::int64_t depth() const { return spec.width / spec.heads; }
  std::int64_t qkv(int which, std::int64_t i, std::int64_t d) const {
    return (sample * spec.context + i) * 3 * spec.width + which * spec.width + head * depth() + d;
  }
  std::int64_t out(std::int64_t i, std::int64_t d) const {
    return (sample * spec.context + i) * spec.width + head * depth() + d;
  }
  std::int64_t statistic(std::int64_t i) const { return (sample * spec.heads + head) * spec.context + i; }
};

/// On several threads: heads write to separate memory.
template <class Body>
void for_each_head(const AttentionSpec& spec, Body body) {
  for_each_in_parallel(spec.samples * spec.heads,
                       static_cast<double>(spec.samples * spec.context * spec.context * spec.width),
                       [&](std::int64_t i) {
                         body(Head{spec, i / spec.heads, i % spec.heads});
                       });
}

/// Scores of row i against rows 0 … i.
Values scores_of(const Head& head, const Values& qkv, std::int64_t i) {
  Values scores;
  for (std::int64_t j = 0; j <= i; ++j) {
    double dot = 0;
    for (std::int64_t d = 0; d < head.depth(); ++d) dot += qkv[head.qkv(0, i, d)] * qkv[head.qkv(1, j, d)];
    scores.push_back(dot / std::sqrt(static_cast<double>(head.depth())));
  }
  return scores;
}

double log_sum_exp_of(const Values& scores) {
  double sum = 0;
  for (double s : scores) sum += std::exp(s);
  return std::log(sum);
}

/// The attended rows and log-sum-exps of all heads.
void attend(const AttentionSpec& spec, const Values& qkv, Values& attended, Values& log_sum_exp) {
  for_each_head(spec, [&](const Head& head) {
    for (std::int64_t i = 0; i < spec.context; ++i) {
      const Values scores = scores_of(head, qkv, i);
      const double lse = log_sum_exp_of(scores);
      log_sum_exp[head.statistic(i)] = lse;
      for (std::int64_t d = 0; d < head.depth(); ++d) {
        double sum = 0;
        for (std::int64_t j = 0; j <= i; ++j) sum += std::exp(scores[j] - lse) * qkv[head.qkv(2, j, d)];
        attended[head.out(i, d)] = sum;
      }
    }
  });
}

}  // namespace

void check_attention_forward(const SetUnderTest& set, DType type) {
  for (AttentionSpec spec : set.sizes(attention_sizes, attention_of_models)) {
    spec.type = type;
    const std::int64_t tokens = spec.samples * spec.context;
    const Tensor qkv = random_tensor({tokens, 3 * spec.width}, type, 1, 3);
    const Tensor attended({tokens, spec.width}, type), lse({spec.samples, spec.heads, spec.context}, wide(type));
    set.launch(set.prepare(&KernelSet::attention_forward, spec), attended, lse, qkv);
    Values expected(static_cast<std::size_t>(tokens * spec.width)),
        lses(static_cast<std::size_t>(lse.view().elements()));
    attend(spec, qkv.values(), expected, lses);
    CHECK(difference(attended.values(), expected) < set.bound(type, type));
    CHECK(difference(lse.values(), lses) < set.bound(type, wide(type)));
    CHECK(attended.guarded());
    CHECK(lse.guarded());
  }
}

void check_attention_backward(const SetUnderTest& set, DType type) {
  for (AttentionSpec spec : set.sizes(attention_sizes, attention_of_models)) {
    spec.type = type;
    const std::int64_t tokens = spec.samples * spec.context;
    const Tensor qkv = random_tensor({tokens, 3 * spec.width}, type, 1, 2);
    const Tensor dattended = random_tensor({tokens, spec.width}, type, 2), dqkv({tokens, 3 * spec.width}, type);
    Tensor attended({tokens, spec.width}, type), lse({spec.samples, spec.heads, spec.context}, wide(type));
    const Values x = qkv.values(), dout = dattended.values();
    Values out(static_cast<std::size_t>(tokens * spec.width)), lses(static_cast<std::size_t>(lse.view().elements()));
    attend(spec, x, out, lses);
    attended.set(out);
    lse.set(lses);
    set.launch(set.prepare(&KernelSet::attention_backward, spec), dqkv, dattended, qkv, lse, attended);
    out = attended.values();  // the rounded values

    Values expected(x.size());
    for_each_head(spec, [&](const Head& head) {
      const double root = 1 / std::sqrt(static_cast<double>(head.depth()));
      for (std::int64_t i = 0; i < spec.context; ++i) {
        const Values scores = scores_of(head, x, i);
        double dot = 0;
        for (std::int64_t d = 0; d < head.depth(); ++d) dot += dout[head.out(i, d)] * out[head.out(i, d)];
        for (std::int64_t j = 0; j <= i; ++j) {
          const double p = std::exp(scores[j] - lses[head.statistic(i)]);
          double dp = 0;
          for (std::int64_t d = 0; d < head.depth(); ++d) dp += dout[head.out(i, d)] * x[head.qkv(2, j, d)];
          const double ds = p * (dp - dot) * root;
          for (std::int64_t d = 0; d < head.depth(); ++d) {
            expected[head.qkv(0, i, d)] += ds * x[head.qkv(1, j, d)];
            expected[head.qkv(1, j, d)] += ds * x[head.qkv(0, i, d)];
            expected[head.qkv(2, j, d)] += p * dout[head.out(i, d)];
          }
        }
      }
    });
    CHECK(difference(dqkv.values(), expected) < set.bound(type, type));
    CHECK(dqkv.guarded());
  }
}

void check_cross_entropy(const SetUnderTest& set, DType type) {
  const std::int64_t vocabularies[] = {1, 15, 256, 1201};
  for (const std::int64_t rows : {1, 7, 40})
    for (const std::int64_t vocabulary : set.sizes(vocabularies, {50257, 50304}))
      for (const DType logits_type : {type, wide(type)})
        for (const bool accumulate : {false, true}) {
          const Tensor logits = random_tensor({rows, vocabulary}, logits_type, 1, 20);
          const Tensor gradient = logits_type == type ? Tensor{} : Tensor({rows, vocabulary}, type);
          const View into = logits_type == type ? logits.view() : gradient.view();
          Tensor loss({1}, DType::f64, {1.5});
          std::vector<std::int32_t> targets;
          for (std::int64_t r = 0; r < rows; ++r) targets.push_back(static_cast<std::int32_t>(r * 31 % vocabulary));
          const double scale = 0.01;
          const Values xs = logits.values();
          Values expected(xs.size());
          double sum_of_losses = accumulate ? 1.5 : 0;
          for (std::int64_t r = 0; r < rows; ++r) {
            double sum = 0;
            for (std::int64_t j = 0; j < vocabulary; ++j) sum += std::exp(xs[r * vocabulary + j]);
            for (std::int64_t j = 0; j < vocabulary; ++j)
              expected[r * vocabulary + j] = scale * (std::exp(xs[r * vocabulary + j]) / sum - (j == targets[r]));
            sum_of_losses += std::log(sum) - xs[r * vocabulary + targets[r]];
          }
          const CrossEntropySpec spec{type, logits_type, rows, vocabulary, accumulate};
          set.launch(set.prepare(&KernelSet::cross_entropy, spec), into, loss, logits, integers(targets), scale);
          const Tensor* written = logits_type == type ? &logits : &gradient;
          CHECK(difference(written->values(), expected) < set.bound(type, type));
          // With one word the loss is zero except for rounding, so 1 is added to both sides.
          CHECK(difference({1 + loss.values()[0]}, {1 + sum_of_losses}) < set.bound(type, DType::f64));
          CHECK(written->guarded());
        }
}

void check_embedding_forward(const SetUnderTest& set, DType type) {
  for (const std::int64_t width : {1, 15, 32}) {
    const EmbeddingSpec spec{.type = type, .samples = 3, .context = 5, .vocabulary = 7, .width = width};
    const Tensor wte = random_tensor({7, width}, type, 1), wpe = random_tensor({5, width}, type, 2);
    const Tensor y({15, width}, type);
    const std::vector<std::int32_t> tokens{0, 6, 6, 1, 2, 3, 3, 3, 3, 3, 5, 0, 1, 6, 2};
    set.launch(set.prepare(&KernelSet::embedding_forward, spec), y, integers(tokens), wte, wpe);
    const Values te = wte.values(), pe = wpe.values();
    Values expected;
    for (std::size_t r = 0; r < tokens.size(); ++r)
      for (std::int64_t j = 0; j < width; ++j) expected.push_back(te[tokens[r] * width + j] + pe[r % 5 * width + j]);
    CHECK(difference(y.values(), expected) < set.bound(type, type));
    CHECK(y.guarded());
  }
}

namespace {

/// Tokens of which one is very frequent, in runs and alone, like a comma.
std::vector<std::int32_t> common_words(std::int32_t count) {
  std::vector<std::int32_t> tokens;
  for (std::int32_t i = 0; i < count; ++i) tokens.push_back(i % 5 == 0 || i % 97 < 8 ? 3 : i * i % 7);
  return tokens;
}

}  // namespace

void check_embedding_backward(const SetUnderTest& set, DType type) {
  const std::vector<std::int32_t> few{0, 6, 6, 1, 2, 3, 3, 3, 3, 3, 5, 0, 1, 6, 2}, many = common_words(1200);
  for (const std::int64_t width : {1, 15, 32})
    for (const bool accumulate : {false, true})
      for (const std::vector<std::int32_t>& tokens : {few, many}) {
        if (tokens.size() > few.size() && width == 1) continue;
        const auto rows = static_cast<std::int64_t>(tokens.size());
        const EmbeddingSpec spec{.type = type,
                                 .samples = rows / 5,
                                 .context = 5,
                                 .vocabulary = 7,
                                 .width = width,
                                 .accumulate_tokens = accumulate,
                                 .accumulate_positions = !accumulate};
        const Tensor dwte = random_tensor({7, width}, wide(type), 1), dwpe = random_tensor({5, width}, wide(type), 2);
        const Tensor dy = random_tensor({rows, width}, type, 3);
        Values te = dwte.values(), pe = dwpe.values();
        if (accumulate) pe.assign(pe.size(), 0);
        if (!accumulate) te.assign(te.size(), 0);
        const Values dys = dy.values();
        for (std::size_t r = 0; r < tokens.size(); ++r)
          for (std::int64_t j = 0; j < width; ++j) {
            te[tokens[r] * width + j] += dys[r * width + j];
            pe[r % 5 * width + j] += dys[r * width + j];
          }
        set.launch(set.prepare(&KernelSet::embedding_backward, spec), dwte, dwpe, dy, integers(tokens));
        CHECK(difference(dwte.values(), te) < set.bound(type, wide(type)));
        CHECK(difference(dwpe.values(), pe) < set.bound(type, wide(type)));
        CHECK(dwte.guarded());
        CHECK(dwpe.guarded());
      }
}

}  // namespace rankscope::kernels::test
