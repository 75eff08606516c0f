// A ring between one producer and one consumer thread, wait-free for both: the hot path of telemetry.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace rankscope {

template <class T>
class SpscRing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `capacity` is rounded up to a power of two. Pages are touched only when they are used.
  explicit SpscRing(std::size_t capacity)
      : mask_(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity) - 1),
        slots_(std::make_unique_for_overwrite<Slot[]>(mask_ + 1)) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  /// Producer: false if it is full.
  bool push(const T& value) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - seen_tail_ > mask_) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head - seen_tail_ > mask_) return false;
    }
    std::memcpy(slots_[head & mask_].bytes, &value, sizeof value);
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  /// Consumer: passes available values, at most `limit`, to `take`; returns their number.
  template <class F>
  std::size_t drain(std::size_t limit, F take) {
    std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t ready = head_.load(std::memory_order_acquire) - tail;
    const std::size_t count = ready < limit ? static_cast<std::size_t>(ready) : limit;
    for (std::size_t i = 0; i < count; ++i, ++tail) {
      T value;
      std::memcpy(static_cast<void*>(&value), slots_[tail & mask_].bytes, sizeof value);
      take(value);
    }
    tail_.store(tail, std::memory_order_release);
    return count;
  }

  std::size_t capacity() const { return mask_ + 1; }
  /// Values pushed so far; any thread.
  std::uint64_t pushed() const { return head_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    alignas(T) std::byte bytes[sizeof(T)];
  };
  static constexpr std::size_t line_bytes = 64;  // the producer's and the consumer's words are on separate cache lines

  const std::size_t mask_;
  const std::unique_ptr<Slot[]> slots_;
  alignas(line_bytes) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;  // the producer's copy: avoids reading the consumer's cache line
  alignas(line_bytes) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace rankscope
