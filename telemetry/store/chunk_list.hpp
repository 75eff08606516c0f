// A long sorted sequence as a list of chunks that grow only at their end, for one writer and many readers.
//
// Rows in order are appended to memory that no snapshot reads. Late rows wait in a buffer; settle() merges them by
// replacing the chunks they belong to, so a snapshot's chunks never change. The buffer may grow with the list, so even
// completely unordered input costs O(n log n).
//
// A Chunk provides: Row; static bool before(const Row&, const Row&), a strict total order in which equal means "the
// same row"; static constexpr capacity_limit; Chunk(context, capacity, const Row& first); capacity(); bool holds(row):
// whether it can represent it; std::shared_ptr<Chunk> grown(count, capacity, row): a copy that can;
// empty_copy(capacity): one without rows; append(count, row); Row at(index); place_of(row, first, last): the first of
// those indices whose row is not before it; bytes(). A Ref provides: std::shared_ptr<Chunk> chunk; std::uint32_t count;
// void add(const Row&), which adds the next row to its summary; copy(chunk, first, last): appends that chunk's rows;
// sum_up(): adds the chunk's own sums to the summary; is_summed(): whether that is done.
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

  /// Adds a row; one that equals the last or (found by settle()) any other is dropped.
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

  /// Merges late rows. Afterwards refs() contains all rows, in order and summed up.
  void settle() {
    merge_late();
    for (auto ref = refs_.rbegin(); ref != refs_.rend() && !ref->is_summed(); ++ref) ref->sum_up();
  }

  const std::vector<Ref>& refs() const { return refs_; }
  std::int64_t count() const { return count_ + static_cast<std::int64_t>(late_.size()); }
  std::int64_t bytes() const { return bytes_ + static_cast<std::int64_t>(late_.capacity() * sizeof(Row)); }
  /// The number of rows that settle() has to merge.
  std::int64_t late_count() const { return static_cast<std::int64_t>(late_.size()); }

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
      if (!refs.empty()) refs.back().sum_up();
      refs.push_back(std::move(ref));
    }
    Ref& tail = refs.back();
    if (tail.count == tail.chunk->capacity() || !tail.chunk->holds(row)) {
      const std::uint32_t needed =
          tail.count == tail.chunk->capacity() ? tail.chunk->capacity() * 2 : tail.chunk->capacity();
      bytes_ -= tail.chunk->bytes();
      tail.chunk = tail.chunk->grown(tail.count, std::min<std::uint32_t>(needed, Chunk::capacity_limit), row);
      bytes_ += tail.chunk->bytes();
    }
    put(tail, row);
  }

  void merge_late() {
    if (late_.empty()) return;
    std::sort(late_.begin(), late_.end(), Chunk::before);
    late_.erase(std::unique(late_.begin(), late_.end(), same), late_.end());
    std::vector<Ref> merged;
    merged.reserve(refs_.size() + late_.size() / Chunk::capacity_limit + 1);
    std::size_t next = 0;
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      // A late row belongs to the last chunk that begins before it; rows before all chunks belong to the first one.
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

  static void put(Ref& into, const Row& row) {
    into.chunk->append(into.count, row);
    into.add(row);
    ++into.count;
  }

  /// Copies the rows of `old` and late rows [next, stop) into new chunks.
  void rebuild(const Ref& old, std::size_t next, std::size_t stop, std::vector<Ref>& into) {
    // Pieces of equal size: a split leaves space in both halves, so the next late rows do not split again.
    const std::size_t all = old.count + (stop - next);
    const std::size_t pieces = (all + Chunk::capacity_limit - 1) / Chunk::capacity_limit, before = into.size();
    std::uint32_t room = 0;
    const auto piece = [&]() -> Ref& {
      if (room == 0) {
        const std::size_t p = into.size() - before;
        room = static_cast<std::uint32_t>(all * (p + 1) / pieces - all * p / pieces);
        Ref fresh;
        fresh.chunk = old.chunk->empty_copy(room);
        into.push_back(std::move(fresh));
      }
      return into.back();
    };
    const auto copy = [&](std::uint32_t first, std::uint32_t last) {
      while (first < last) {
        Ref& to = piece();
        const std::uint32_t some = std::min(last - first, room);
        to.copy(*old.chunk, first, first + some);
        first += some;
        room -= some;
      }
    };
    std::uint32_t k = 0;
    for (; next < stop; ++next) {
      const Row& row = late_[next];
      const std::uint32_t place = old.chunk->place_of(row, k, old.count);
      copy(k, place);
      k = place;
      if (k < old.count && same(row, old.chunk->at(k))) continue;
      Ref& to = piece();
      if (!to.chunk->holds(row)) to.chunk = to.chunk->grown(to.count, to.chunk->capacity(), row);
      put(to, row);
      --room;
    }
    copy(k, old.count);
    count_ -= old.count;
    for (std::size_t p = before; p < into.size(); ++p) {
      into[p].sum_up();
      bytes_ += into[p].chunk->bytes();
      count_ += into[p].count;
    }
  }

  const Context* context_;
  std::vector<Ref> refs_;
  std::vector<Row> late_;
  Row last_{};
  std::int64_t count_ = 0, bytes_ = 0;
};

}  // namespace rankscope
