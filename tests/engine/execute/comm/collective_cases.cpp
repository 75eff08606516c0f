#include "tests/engine/execute/comm/collective_cases.hpp"

#include <bit>
#include <cstring>
#include <exception>
#include <numeric>
#include <thread>

namespace rankscope::test {

namespace {

// Small whole numbers are exact in every type, and so are their sums over up to 16 ranks in any order.
int number_at(int rank, std::int64_t element) { return static_cast<int>((rank * 5 + element * 3 + element / 7) % 13); }

struct F64 {
  using Stored = double;
  static Stored encode(int k) { return k; }
};
struct F32 {
  using Stored = float;
  static Stored encode(int k) { return static_cast<float>(k); }
};
struct I32 {
  using Stored = std::int32_t;
  static Stored encode(int k) { return k; }
};
struct U8 {
  using Stored = std::uint8_t;
  static Stored encode(int k) { return static_cast<std::uint8_t>(k); }
};
struct Bf16 {
  using Stored = std::uint16_t;
  static Stored encode(int k) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(k)) >> 16);
  }
};
struct Fp16 {
  using Stored = std::uint16_t;
  static Stored encode(int k) {
    if (k == 0) return 0;
    const int exponent = std::bit_width(static_cast<unsigned>(k)) - 1;
    return static_cast<std::uint16_t>((exponent + 15) << 10 | ((k << 10 >> exponent) & 0x3ff));
  }
};

template <class T>
using Values = std::vector<typename T::Stored>;

template <class T, class Number>
Values<T> values(std::int64_t elements, Number number) {
  Values<T> result(elements);
  for (std::int64_t e = 0; e < elements; ++e) result[e] = T::encode(number(e));
  return result;
}

template <class T>
class Cases {
 public:
  Cases(Communicator& group, DType type, std::int64_t elements)
      : group_(group), type_(type), elements_(elements), part_(elements / group.size() + (elements > 0 ? 1 : 0)) {}

  std::vector<std::string> run() {
    const int n = group_.size(), last = n - 1;
    for (int root : {0, last}) {
      auto data = group_.index() == root ? numbers(elements_, root) : nothing(elements_);
      group_.collective({OpKind::broadcast, view(data), {}, root});
      expect("broadcast", data, numbers(elements_, root));

      data = numbers(elements_, group_.index());
      group_.collective({OpKind::reduce, view(data), {}, root});
      if (group_.index() == root) expect("reduce", data, sums(elements_, 0));

      auto whole = numbers(part_ * n, root), part = nothing(part_);
      group_.collective(
          {OpKind::scatter, group_.index() == root ? view(whole) : View{nullptr, type_, {0}}, view(part), root});
      expect("scatter", part, numbers(part_, root, group_.index() * part_));

      part = numbers(part_, group_.index());
      whole = nothing(part_ * n);
      group_.collective(
          {OpKind::gather, group_.index() == root ? view(whole) : View{nullptr, type_, {0}}, view(part), root});
      if (group_.index() == root) expect("gather", whole, all_parts());
    }
    auto data = numbers(elements_, group_.index());
    group_.collective({OpKind::all_reduce, view(data)});
    expect("all_reduce", data, sums(elements_, 0));

    auto part = numbers(part_, group_.index());
    auto whole = nothing(part_ * n);
    group_.collective({OpKind::all_gather, view(whole), view(part)});
    expect("all_gather", whole, all_parts());

    whole = nothing(part_ * n);  // in place: the part is at its own position in the whole
    std::copy(part.begin(), part.end(), whole.begin() + group_.index() * part_);
    group_.collective({OpKind::all_gather, view(whole), own_part(whole)});
    expect("all_gather in place", whole, all_parts());

    whole = numbers(part_ * n, group_.index());
    part = nothing(part_);
    group_.collective({OpKind::reduce_scatter, view(whole), view(part)});
    expect("reduce_scatter", part, sums(part_, group_.index() * part_));

    whole = numbers(part_ * n, group_.index());
    group_.collective({OpKind::reduce_scatter, view(whole), own_part(whole)});
    part.assign(whole.begin() + group_.index() * part_, whole.begin() + (group_.index() + 1) * part_);
    expect("reduce_scatter in place", part, sums(part_, group_.index() * part_));

    const auto sent = numbers(part_ * n, group_.index());
    auto sending = sent, received = nothing(part_ * n), expected = received;
    group_.collective({OpKind::all_to_all, view(sending), view(received)});
    for (int from = 0; from < n; ++from) {
      const auto theirs = numbers(part_, from, group_.index() * part_);
      std::copy(theirs.begin(), theirs.end(), expected.begin() + from * part_);
    }
    expect("all_to_all", received, expected);
    expect("all_to_all's input", sending, sent);
    return wrong_;
  }

 private:
  Values<T> numbers(std::int64_t count, int rank, std::int64_t from = 0) const {
    return values<T>(count, [&](std::int64_t e) { return number_at(rank, from + e); });
  }
  Values<T> nothing(std::int64_t count) const {
    return values<T>(count, [](std::int64_t) { return 99; });
  }
  Values<T> sums(std::int64_t count, std::int64_t from) const {
    return values<T>(count, [&](std::int64_t e) {
      int sum = 0;
      for (int r = 0; r < group_.size(); ++r) sum += number_at(r, from + e);
      return sum;
    });
  }
  Values<T> all_parts() const {
    Values<T> all;
    for (int r = 0; r < group_.size(); ++r) {
      const auto part = numbers(part_, r);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  View view(Values<T>& data) const { return {data.data(), type_, {static_cast<std::int64_t>(data.size())}}; }
  View own_part(Values<T>& whole) const { return {whole.data() + group_.index() * part_, type_, {part_}}; }

  void expect(const char* what, const Values<T>& got, const Values<T>& wanted) {
    for (std::size_t e = 0; e < wanted.size(); ++e)
      if (got[e] != wanted[e]) {
        wrong_.push_back(std::string(what) + " of " + std::to_string(wanted.size()) + " " +
                         std::string(name_of(type_)) + ": member " + std::to_string(group_.index()) + " of " +
                         std::to_string(group_.size()) + " has " + std::to_string(got[e]) + " at " + std::to_string(e) +
                         ", not " + std::to_string(wanted[e]));
        return;
      }
  }

  Communicator& group_;
  DType type_;
  std::int64_t elements_, part_;
  std::vector<std::string> wrong_;
};

// Numbers whose sums depend on the order of summation.
float awkward(int rank, std::int64_t element) {
  const auto bits = static_cast<std::uint32_t>((rank + 1) * 2654435761u + static_cast<std::uint32_t>(element) * 40503u);
  return static_cast<float>(static_cast<std::int32_t>(bits)) * 1e-9f * static_cast<float>(element % 5 + 1);
}

void store(void* data, DType type, std::int64_t e, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (type == DType::f64) static_cast<double*>(data)[e] = value;
  if (type == DType::f32) static_cast<float*>(data)[e] = value;
  if (type == DType::bf16) static_cast<std::uint16_t*>(data)[e] = static_cast<std::uint16_t>(bits >> 16);
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<std::string> wrong_collectives(Communicator& group, DType type, std::int64_t elements) {
  switch (type) {
    case DType::f64: return Cases<F64>(group, type, elements).run();
    case DType::f32: return Cases<F32>(group, type, elements).run();
    case DType::bf16: return Cases<Bf16>(group, type, elements).run();
    case DType::f16: return Cases<Fp16>(group, type, elements).run();
    case DType::i32: return Cases<I32>(group, type, elements).run();
    case DType::u8: return Cases<U8>(group, type, elements).run();
  }
  return {};
}

std::vector<std::string> wrong_messages(Communicator& group, std::int64_t elements) {
  const int n = group.size(), me = group.index(), next = (me + 1) % n, previous = (me + n - 1) % n, rounds = 20;
  std::vector<std::string> wrong;
  if (n == 1) return wrong;
  std::exception_ptr failure;
  std::thread sender([&] {
    try {
      for (int round = 0; round < rounds; ++round) {
        auto data = values<F32>(elements, [&](std::int64_t e) { return number_at(me + round, e); });
        group.send({data.data(), DType::f32, {elements}}, next);
      }
    } catch (...) {
      failure = std::current_exception();
    }
  });
  std::exception_ptr own_failure;
  try {
    for (int round = 0; round < rounds; ++round) {
      std::vector<float> data(elements);
      group.receive({data.data(), DType::f32, {elements}}, previous);
      if (data != values<F32>(elements, [&](std::int64_t e) { return number_at(previous + round, e); }))
        wrong.push_back("message " + std::to_string(round) + " of " + std::to_string(elements) + " from member " +
                        std::to_string(previous) + " to " + std::to_string(me) + " is not what was sent");
    }
  } catch (...) {
    own_failure = std::current_exception();
  }
  sender.join();
  if (own_failure) std::rethrow_exception(own_failure);
  if (failure) std::rethrow_exception(failure);
  return wrong;
}

std::vector<std::string> wrong_at_once(std::span<const std::unique_ptr<Communicator>> groups, int rounds) {
  std::vector<std::vector<std::string>> of_group(groups.size());
  const auto add = [](std::vector<std::string>& all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < groups.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        for (int round = 0; round < rounds; ++round) add(of_group[i], wrong_collectives(*groups[i], DType::f32, 200));
        add(of_group[i], wrong_messages(*groups[i], 500));
      } catch (const std::exception& error) {
        of_group[i].push_back(error.what());
      }
    });
  for (auto& thread : threads) thread.join();
  std::vector<std::string> all;
  for (const auto& some : of_group) add(all, some);
  return all;
}

std::vector<std::string> wrong_arrivals(World& world) {
  const int n = world.size();
  std::vector<int> all(n), order{n - 1};
  std::iota(all.begin(), all.end(), 0);
  for (int rank = 1; rank < n - 1; ++rank) order.push_back(rank);
  const auto group = world.group(all, Lane::server, "auto"), turns = world.group(all, Lane::data, "auto");
  std::vector<std::string> wrong;
  double value = world.rank(), turn = 0;
  const View data{&value, DType::f64, {1}}, turn_view{&turn, DType::f64, {1}};
  if (world.rank() != 0) {
    if (world.rank() != order.front()) turns->receive(turn_view, 0);
    group->send(data, 0);
    return wrong;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    // Ask for two senders; the second one sends only after it got its turn below. In the last round, only one is left.
    std::vector<int> asked{order[i]};
    if (i + 1 < order.size()) asked.insert(asked.begin(), order[i + 1]);
    const int first = group->first_sender(asked);
    group->receive(data, first);
    if (first != order[i] || value != first)
      wrong.push_back("rank " + std::to_string(first) + " came, with " + std::to_string(value) + ", where rank " +
                      std::to_string(order[i]) + " was the first");
    if (i + 1 < order.size()) turns->send(turn_view, order[i + 1]);
  }
  return wrong;
}

std::vector<std::string> wrong_bits(Communicator& group, World& world, DType type, bool parts_equal_chunks) {
  const std::int64_t part = 501, elements = part * group.size();
  std::vector<std::byte> whole(elements * bytes_of(type)), shard(part * bytes_of(type));
  const View whole_view{whole.data(), type, {elements}};
  auto fill = [&] {
    for (std::int64_t e = 0; e < elements; ++e) store(whole.data(), type, e, awkward(group.index(), e));
  };
  std::vector<std::string> wrong;
  fill();
  group.collective({OpKind::all_reduce, whole_view});
  for (const std::string& other : world.exchange(text_of(whole)))
    if (other != text_of(whole)) wrong.push_back("members have different bits after an all_reduce");
  const std::vector<std::byte> reduced = whole;
  fill();
  group.collective({OpKind::reduce_scatter, whole_view, {shard.data(), type, {part}}});
  if (parts_equal_chunks && std::memcmp(shard.data(), reduced.data() + group.index() * shard.size(), shard.size()) != 0)
    wrong.push_back("reduce_scatter's part is not the all_reduce's chunk");
  return wrong;
}

std::vector<std::string> wrong_ring_bytes(World& world, std::int64_t elements) {
  std::vector<int> everyone;
  for (int r = 0; r < world.size(); ++r) everyone.push_back(r);
  const auto ring = world.group(everyone, Lane::data, "ring");
  std::vector<float> data(elements, 1.0f);
  ring->collective({OpKind::all_reduce, {data.data(), DType::f32, {elements}}});
  const std::int64_t expected = 2 * (world.size() - 1) * elements * 4;
  std::int64_t sent = 0, received = 0;
  const WireBytes mine = ring->wire_bytes();
  for (const std::string& text : world.exchange(std::to_string(mine.sent))) sent += std::stoll(text);
  for (const std::string& text : world.exchange(std::to_string(mine.received))) received += std::stoll(text);
  std::vector<std::string> wrong;
  if (sent != expected || received != expected)
    wrong.push_back("a ring all_reduce of " + std::to_string(elements * 4) + " bytes sent " + std::to_string(sent) +
                    " and received " + std::to_string(received) + " bytes, not " + std::to_string(expected));
  return wrong;
}

}  // namespace rankscope::test
