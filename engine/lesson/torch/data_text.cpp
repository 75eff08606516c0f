// Random numbers and data of the script: kernels/tensor/random.hpp and engine/execute/data/language.hpp in numpy.
#include "engine/lesson/torch/pieces.hpp"

namespace rankscope::python {

std::string random_numbers() {
  return section("Random numbers: a function of seed, stream and index, whoever asks") +
         R"PY(def random_words(seed, purpose, number, blocks):
    """Philox4x32-10 (Salmon et al. 2011), which GPUs use: four words of 32 bits for each number of a block."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [blocks & low, blocks >> half, np.full_like(blocks, number), np.full_like(blocks, purpose)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> half ^ c[1] ^ np.uint64(key[0]), b & low, a >> half ^ c[3] ^ np.uint64(key[1]), a & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=-1)


def unit_interval(low, high):
    """The 53 high bits of two words as a number in [0, 1)."""
    return ((high << np.uint64(32) | low) >> np.uint64(11)) * 2.0**-53


def normals(first, count):
    """Box and Muller's: numbers first ... first + count - 1, two from a block."""
    pairs = np.arange(first // 2, (first + count + 1) // 2, dtype=np.uint64)
    words = random_words(WEIGHT_SEED, 1, 0, pairs)
    radius = np.sqrt(-2 * np.log(1 - unit_interval(words[:, 0], words[:, 1])))
    angle = 2 * math.pi * unit_interval(words[:, 2], words[:, 3])
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[first % 2 :][:count]
)PY";
}

std::string language() {
  return section("Data: Rankscope's synthetic language") +
         R"PY(class Language:
    """Which token follows depends on the last one and on the class (0 or 1) of the one before: 2 * VOCABULARY contexts,
    each with at most four successors. Context c is token c // 2 after a token of class c % 2."""

    def __init__(self):
        successors = min(VOCABULARY, 4)
        classes, cycle, tokens, weights = (self.draws(part) for part in range(4))
        self.class_of = np.array([int(next(classes) * 2) for _ in range(VOCABULARY)])
        order = list(range(VOCABULARY))  # a cycle through all tokens, so that each is reached from every other
        for i in range(VOCABULARY - 1, 0, -1):
            j = int(next(cycle) * (i + 1))
            order[i], order[j] = order[j], order[i]
        after = dict(zip(order, order[1:] + order[:1]))
        token_of, end_of = [], []  # successors, and below which word of 32 bits each one is meant
        for context in range(2 * VOCABULARY):
            chosen = [after[context // 2]]
            while len(chosen) < successors:
                token = int(next(tokens) * VOCABULARY)
                if token not in chosen:
                    chosen.append(token)
            weight = list(itertools.accumulate(0.05 - math.log(1 - next(weights)) for _ in chosen))
            end = [0]
            for k in range(successors - 1):
                share = int(weight[k] / weight[-1] * 2**32)
                end.append(min(max(share, end[-1] + 1), 2**32 - (successors - 1 - k)))
            token_of.append(chosen)
            end_of.append(end[1:] + [2**32])
        self.token_of, self.end_of = np.array(token_of), np.array(end_of, dtype=np.uint64)

        # How often each context is met in the long run: samples begin with one so drawn.
        probability = np.diff(self.end_of.astype(float), prepend=0) / 2**32
        following = 2 * self.token_of + np.repeat(self.class_of, 2)[:, None]
        share = np.full(2 * VOCABULARY, 0.5 / VOCABULARY)
        for _ in range(20000):
            moved = np.bincount(following.ravel(), (share[:, None] * probability).ravel(), 2 * VOCABULARY)
            before, share = share, (share + moved) / 2
            if np.abs(share - before).sum() < 1e-14:
                break
            share /= share.sum()
        self.share_before = np.cumsum(share)

    @staticmethod
    def draws(part):
        for block in itertools.count(step=2048):
            words = random_words(DATA_SEED, 4, part, np.arange(block, block + 2048, dtype=np.uint64))
            yield from unit_interval(words[:, 0::2], words[:, 1::2]).ravel().tolist()

    def samples(self, first, count):
        """[count, CONTEXT + 1] tokens: the samples from number `first` on, of a corpus without end."""
        numbers = np.arange(first, first + count, dtype=np.uint64)[:, None]
        blocks = (numbers << np.uint64(22)) + np.arange(CONTEXT // 4 + 2, dtype=np.uint64)
        words = random_words(DATA_SEED, 5, 0, blocks).reshape(count, -1)
        begin = unit_interval(words[:, 0], words[:, 1]) * self.share_before[-1]
        context = np.searchsorted(self.share_before[:-1], begin, side="right")
        tokens = [context // 2]
        for i in range(1, CONTEXT + 1):
            successor = (words[:, 3 + i, None] >= self.end_of[context]).sum(axis=1)
            following = self.token_of[context, successor]
            context = 2 * following + self.class_of[tokens[-1]]
            tokens.append(following)
        return torch.from_numpy(np.stack(tokens, axis=1))
)PY";
}

}  // namespace rankscope::python
