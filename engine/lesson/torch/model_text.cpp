// The model and its initial values: engine/plan/model/gpt_rows.hpp and llama_rows.hpp in torch.nn.
#include "engine/lesson/torch/pieces.hpp"

namespace rankscope::python {

namespace {

constexpr const char* exchanged_sums =
    R"PY(# What torch.distributed.tensor.parallel calls ColwiseParallel and RowwiseParallel, written out: those cut a matrix into
# TENSOR stretches, and here q, k and v lie on top of each other in one, of which a rank has some heads each.
def sum_of_ranks(x):
    x = x.clone()
    dist.all_reduce(x, group=tensor_group)
    return x


class Enter(torch.autograd.Function):
    """In front of shares that all read x (Megatron-LM's f): its gradient is the sum of what they find. In Rankscope's
    plan that is the all-reduce of the purpose `tensor` in a backward."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return sum_of_ranks(gradient)


class Sum(torch.autograd.Function):
    """Behind shares that each have a part of a sum (Megatron-LM's g): the all-reduce of a forward."""

    @staticmethod
    def forward(ctx, x):
        return sum_of_ranks(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


)PY";

constexpr const char* shared_matrices = R"PY(class ColumnLinear(nn.Module):
    """This rank's columns of the result (rows of torch's [out, in] matrix) in each of so many groups."""

    def __init__(self, whole, groups=1):
        super().__init__()
        own = lambda p: p.detach().unflatten(0, (groups, TENSOR, -1))[:, tensor_rank].flatten(0, 1)
        self.weight, self.bias = nn.Parameter(own(whole.weight)), nn.Parameter(own(whole.bias))

    def forward(self, x):
        return F.linear(Enter.apply(x), self.weight, self.bias)


class RowLinear(nn.Module):
    """This rank's columns of the matrix: a part of each sum. The bias is added once, behind it."""

    def __init__(self, whole):
        super().__init__()
        self.weight = nn.Parameter(whole.weight.detach().chunk(TENSOR, dim=1)[tensor_rank].clone())
        self.bias = whole.bias

    def forward(self, x):
        return Sum.apply(F.linear(x, self.weight)) + self.bias


)PY";

constexpr const char* shared_vocabulary =
    R"PY(WORDS = math.ceil(VOCABULARY / TENSOR)  # of a rank; the last one may have fewer
FIRST_WORD = tensor_rank * WORDS


def own_words(tokens):
    """Which tokens are this rank's, and their rows in its share (row 0 where they are not)."""
    own = (tokens >= FIRST_WORD) & (tokens < min(FIRST_WORD + WORDS, VOCABULARY))
    return own, torch.where(own, tokens - FIRST_WORD, 0)


class OwnWords(nn.Module):
    """This rank's rows of a token matrix."""

    def __init__(self, whole):
        super().__init__()
        self.weight = nn.Parameter(whole.weight.detach()[FIRST_WORD : FIRST_WORD + WORDS].clone())

    def forward(self, tokens):
        own, row = own_words(tokens)
        return Sum.apply(F.embedding(row, self.weight) * own[..., None])


def loss_of(logits, targets):
    """Mean over all tokens, in nats, of logits of which each rank has its words: ranks exchange three numbers a token
    (purpose `loss`), not the logits."""
    greatest = logits.detach().amax(dim=-1)
    dist.all_reduce(greatest, dist.ReduceOp.MAX, group=tensor_group)
    logits = logits - greatest[..., None]
    own, row = own_words(targets)
    of_target = Sum.apply(logits.gather(-1, row[..., None])[..., 0] * own)
    return (Sum.apply(logits.exp().sum(dim=-1)).log() - of_target).mean()


def share_layers(gpt):
    """Whole heads and the MLP's columns on each rank, then a sum over the ranks; and the vocabulary."""
    for block in gpt.h:
        block.attn["c_attn"] = ColumnLinear(block.attn["c_attn"], groups=3)
        block.attn["c_proj"] = RowLinear(block.attn["c_proj"])
        block.mlp["c_fc"] = ColumnLinear(block.mlp["c_fc"])
        block.mlp["c_proj"] = RowLinear(block.mlp["c_proj"])
    gpt.wte = OwnWords(gpt.wte)
)PY";

}  // namespace

std::string tensor_layers(const Subject& subject) {
  if (!subject.tensor_ranks()) return {};
  return section("Tensor parallel: layers of which each rank has a share") + exchanged_sums + shared_matrices +
         shared_vocabulary + (subject.model().tied ? "" : "    gpt.lm_head = OwnWords(gpt.lm_head)\n");
}

namespace {

const char* block =
    R"PY(class Block(nn.Module):
    """Layer norms are in front of attention and MLP; both add to the residual stream."""

    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(WIDTH)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(WIDTH, 3 * WIDTH), "c_proj": nn.Linear(WIDTH, WIDTH)})
        self.ln_2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(WIDTH, 4 * WIDTH), "c_proj": nn.Linear(4 * WIDTH, WIDTH)})

    def forward(self, x):
        qkv = self.attn["c_attn"](self.ln_1(x)).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for t in qkv)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.attn["c_proj"](attended)
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh"))


class GPT(nn.Module):
    """Parameters in the order of Rankscope's, by which their initial values are drawn."""

    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.wpe = nn.Embedding(CONTEXT, WIDTH)
        self.h = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln_f = nn.LayerNorm(WIDTH)
)PY";

const char* llama_block =
    R"PY(def rotated(x):
    """x [batch, heads, tokens, depth]: numbers i and i + depth/2 are a point, turned by its position."""
    depth = x.shape[-1]
    frequencies = ROPE_THETA ** (-torch.arange(0, depth, 2, dtype=torch.float64) / depth)
    angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64), frequencies)
    cosine, sine = angles.cos().to(x), angles.sin().to(x)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], dim=-1)


class Block(nn.Module):
    """RMS norms are in front of attention and MLP; both add to the residual stream. Names are those of the GPT's script."""

    def __init__(self):
        super().__init__()
        heads = HEADS + 2 * KEY_VALUE_HEADS
        self.ln_1 = nn.RMSNorm(WIDTH, eps=NORM_EPSILON)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(WIDTH, heads * WIDTH // HEADS, bias=False),
                                   "c_proj": nn.Linear(WIDTH, WIDTH, bias=False)})
        self.ln_2 = nn.RMSNorm(WIDTH, eps=NORM_EPSILON)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(WIDTH, 2 * INNER, bias=False),
                                  "c_proj": nn.Linear(INNER, WIDTH, bias=False)})

    def forward(self, x):
        qkv = self.attn["c_attn"](self.ln_1(x)).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)
        q, k, v = qkv.split([HEADS, KEY_VALUE_HEADS, KEY_VALUE_HEADS], dim=1)
        k, v = (t.repeat_interleave(HEADS // KEY_VALUE_HEADS, dim=1) for t in (rotated(k), v))
        attended = F.scaled_dot_product_attention(rotated(q), k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.attn["c_proj"](attended)
        gate, up = self.mlp["c_fc"](self.ln_2(x)).chunk(2, dim=-1)
        return x + self.mlp["c_proj"](F.silu(gate) * up)


class GPT(nn.Module):
    """Parameters in the order of Rankscope's, by which their initial values are drawn."""

    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.h = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln_f = nn.RMSNorm(WIDTH, eps=NORM_EPSILON)
)PY";

bool is_llama(const Subject& subject) { return subject.model().kind == ModelKind::llama; }

/// What a first chunk adds to its tokens' embeddings.
std::string positions(const Subject& subject) { return is_llama(subject) ? "" : " + self.wpe.weight"; }

/// Applies a block to x.
std::string apply_block(const Subject& subject) {
  return subject.recomputes()
             ? "checkpoint(block, x, use_reentrant=False)  # plan.recompute: computed again in backward"
             : "block(x)";
}

/// The logits of x, in a module with that head.
std::string logits(const Subject& subject) {
  const std::string head = subject.model().tied ? "self.wte.weight" : "self.lm_head.weight";
  return subject.tensor_ranks() ? "F.linear(Enter.apply(self.ln_f(x)), " + head + ")"
                                : "F.linear(self.ln_f(x), " + head + ")";
}

/// A module that is the complete model, or one that is a chunk of it.
std::string whole_forward(const Subject& subject) {
  return R"PY(
    def forward(self, tokens):
        x = self.wte(tokens))PY" +
         positions(subject) + R"PY(
        for block in self.h:
            x = )PY" +
         apply_block(subject) + "\n        return " + logits(subject) + "\n";
}

std::string chunk_module(const Subject& subject) {
  const bool tied = subject.model().tied;
  const std::string own_positions = "            self.wpe = whole.wpe\n";
  return std::string(R"PY(

class Chunk(nn.Module):
    """What a stage has of the model: some blocks, the first one the embeddings, too, and the last one the head.)PY") +
         (tied ? "\n    The head is the token matrix again: the last stage has a copy of it.\"\"\"" : "\"\"\"") + R"PY(

    def __init__(self, whole, number):
        super().__init__()
        self.is_first, self.is_last = number == 0, number == CHUNKS - 1
        begin = sum(LAYERS_OF_CHUNK[:number])
        self.h = whole.h[begin : begin + LAYERS_OF_CHUNK[number]]
        if self.is_first)PY" +
         (tied ? " or self.is_last:\n            self.wte = whole.wte\n" : ":\n            self.wte = whole.wte\n") +
         (is_llama(subject) ? "" : (tied ? "        if self.is_first:\n" : "") + own_positions) +
         "        if self.is_last:\n            self.ln_f = whole.ln_f\n" +
         (tied ? "" : "            self.lm_head = whole.lm_head\n") + R"PY(
    def forward(self, x):
        if self.is_first:
            x = self.wte(x))PY" +
         positions(subject) + R"PY(
        for block in self.h:
            x = )PY" +
         apply_block(subject) + "\n        return " + logits(subject) + " if self.is_last else x\n";
}

const char* loss_of_whole_logits =
    R"PY(

def loss_of(logits, targets):
    """Mean over all tokens, in nats."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
)PY";

}  // namespace

std::string model(const Subject& subject) {
  std::string text =
      is_llama(subject) ? section("The model: a Llama") + llama_block : section("The model: GPT-2's") + block;
  if (!subject.model().tied) text += "        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)\n";
  text += subject.stages() ? chunk_module(subject) : whole_forward(subject);
  if (!subject.tensor_ranks()) text += loss_of_whole_logits;
  return text;
}

std::string weights(const Subject&) {
  return section("Initial weights: by the place of an element in the whole model, so whatever the plan is") +
         R"PY(def set_initial_weights(gpt):
    first = 0
    for name, p in gpt.named_parameters():
        if p.dim() == 1:
            p.data.fill_(1 if name.endswith("weight") else 0)
        else:
            deviation = 0.02 / math.sqrt(2 * LAYERS) if "c_proj" in name else 0.02
            p.data.copy_(torch.from_numpy(deviation * normals(first, p.numel())).view_as(p))
        first += p.numel()
)PY";
}

}  // namespace rankscope::python
