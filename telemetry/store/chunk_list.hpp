// A long sorted sequence as a list of chunks that only ever grow at their end, for one writer and many readers.
//
// Rows that come in order are written behind the last one, into memory that no snapshot looks at. Rows that come late
// wait in a buffer; settle() merges them by replacing the chunks they fall into, so a snapshot's chunks never change.
// The buffer may grow with the list, which makes even wholly disordered input cost O(n log n).
//
// A Chunk provides: Row; static bool before(const Row&, const Row&), a strict total order in which equal means "the
// same row"; static constexpr capacity_limit; Chunk(context, capacity, const Row& first); capacity(); bool holds(row):
// can it represent it; std::shared_ptr<Chunk> grown(count, capacity, row): a copy that can; append(count, row); Row
// at(index); bytes(). A Ref provides: std::shared_ptr<Chunk> chunk; std::uint32_t count; void add(const Row&), which
// extends its running summary by the row that is about to be counted.
#pragma once
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rankscope {

template <class Chunk, class Ref, class Context>
class ChunkList {
 public:
  using Row = typename Chunk::Row;

  /// `context` is what all chunks of the list share; it outlives them.
  explicit ChunkList(const Context& context) : context_(&context) {}

  /// Takes a row; one that equals the last or (found at settling) any other is dropped.
  void add(const Row& row) {
    if (refs_.empty() || Chunk::before(last_, row)) {
      append(refs_, row);
      last_ = row;
      ++count_;
    } else if (Chunk::before(row, last_)) {
      late_.push_back(row);
      if (late_.size() > std::max<std::size_t>(1024, static_cast<std::size_t>(count_) / 8)) settle();
    }
  }

  /// Merges what came late. Afterwards refs() is everything, in order.
  void settle() {
    if (late_.empty()) return;
    std::sort(late_.begin(), late_.end(), Chunk::before);
    late_.erase(std::unique(late_.begin(), late_.end(), same), late_.end());
    std::vector<Ref> merged;
    merged.reserve(refs_.size() + late_.size() / Chunk::capacity_limit + 1);
    std::size_t next = 0;
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      // A late row belongs to the last chunk that begins before it; the first chunk takes all that precede it.
      std::size_t stop = late_.size();
      if (i + 1 < refs_.size()) {
        const Row following = refs_[i + 1].chunk->at(0);
        stop = static_cast<std::size_t>(
            std::lower_bound(late_.begin() + static_cast<std::ptrdiff_t>(next), late_.end(), following, Chunk::before) -
            late_.begin());
      }
      if (stop == next) {
        merged.push_back(std::move(refs_[i]));
        continue;
      }
      bytes_ -= refs_[i].chunk->bytes();
      rebuild(refs_[i], next, stop, merged);
      next = stop;
    }
    refs_ = std::move(merged);
    late_.clear();
    late_.shrink_to_fit();
  }

  const std::vector<Ref>& refs() const { return refs_; }
  std::int64_t count() const { return count_ + static_cast<std::int64_t>(late_.size()); }
  std::int64_t bytes() const { return bytes_ + static_cast<std::int64_t>(late_.capacity() * sizeof(Row)); }
  const std::vector<Row>& late() const { return late_; }

  /// Removes the first chunk; there must be a second one.
  void drop_first() {
    assert(refs_.size() > 1);
    bytes_ -= refs_.front().chunk->bytes();
    count_ -= refs_.front().count;
    refs_.erase(refs_.begin());
  }

 private:
  static bool same(const Row& a, const Row& b) { return !Chunk::before(a, b) && !Chunk::before(b, a); }

  void append(std::vector<Ref>& refs, const Row& row) {
    if (refs.empty() || refs.back().count == Chunk::capacity_limit) {
      Ref ref;
      ref.chunk = std::make_shared<Chunk>(*context_, refs.empty() ? 64u : std::uint32_t{Chunk::capacity_limit}, row);
      bytes_ += ref.chunk->bytes();
      refs.push_back(std::move(ref));
    }
    Ref& tail = refs.back();
    if (tail.count == tail.chunk->capacity() || !tail.chunk->holds(row)) {
      const std::uint32_t wanted =
          tail.count == tail.chunk->capacity() ? tail.chunk->capacity() * 2 : tail.chunk->capacity();
      bytes_ -= tail.chunk->bytes();
      tail.chunk = tail.chunk->grown(tail.count, std::min<std::uint32_t>(wanted, Chunk::capacity_limit), row);
      bytes_ += tail.chunk->bytes();
    }
    tail.chunk->append(tail.count, row);
    tail.add(row);
    ++tail.count;
  }

  void rebuild(const Ref& old, std::size_t next, std::size_t stop, std::vector<Ref>& into) {
    std::vector<Row> rows;
    rows.reserve(old.count + (stop - next));
    for (std::uint32_t k = 0; k < old.count; ++k) {
      const Row row = old.chunk->at(k);
      for (; next < stop && Chunk::before(late_[next], row); ++next) rows.push_back(late_[next]);
      if (next < stop && same(late_[next], row)) ++next;
      rows.push_back(row);
    }
    rows.insert(rows.end(), late_.begin() + static_cast<std::ptrdiff_t>(next),
                late_.begin() + static_cast<std::ptrdiff_t>(stop));
    count_ += static_cast<std::int64_t>(rows.size()) - old.count;
    // Even pieces: a split leaves room in both halves, so the next late rows do not split again.
    const std::size_t pieces = (rows.size() + Chunk::capacity_limit - 1) / Chunk::capacity_limit;
    for (std::size_t p = 0; p < pieces; ++p) {
      const std::size_t from = rows.size() * p / pieces, to = rows.size() * (p + 1) / pieces;
      Ref ref;
      ref.chunk = std::make_shared<Chunk>(*context_, static_cast<std::uint32_t>(to - from), rows[from]);
      for (std::size_t k = from; k < to; ++k) {
        if (!ref.chunk->holds(rows[k])) ref.chunk = ref.chunk->grown(ref.count, ref.chunk->capacity(), rows[k]);
        ref.chunk->append(ref.count, rows[k]);
        ref.add(rows[k]);
        ++ref.count;
      }
      bytes_ += ref.chunk->bytes();
      into.push_back(std::move(ref));
    }
  }

  const Context* context_;
  std::vector<Ref> refs_;
  std::vector<Row> late_;
  Row last_{};
  std::int64_t count_ = 0, bytes_ = 0;
};

}  // namespace rankscope
