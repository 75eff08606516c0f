// A map from step to T whose copies are cheap and immutable: blocks of 64 steps, shared until one side writes.
//
// One thread edits the original; at the same time other threads may read, copy and edit copies made by share().
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>

namespace rankscope {

template <class T>
class StepMap {
 public:
  static constexpr std::uint32_t block_steps = 64;

  StepMap() = default;
  /// A copy may be edited, but then its original must not be edited any more. Use share() to copy a map that is still
  /// edited.
  StepMap(const StepMap& other) : slots_(other.slots_), epoch_(other.epoch_ + 1) {}
  StepMap& operator=(const StepMap& other) {
    slots_ = other.slots_;
    epoch_ = other.epoch_ + 1;
    return *this;
  }
  StepMap(StepMap&&) noexcept = default;
  StepMap& operator=(StepMap&&) noexcept = default;
  ~StepMap() = default;

  /// The value of a step, created if it is missing. The reference is valid until the next edit() or share().
  T& edit(std::uint32_t step) {
    Slot& slot = slots_[step / block_steps];
    if (!slot.block) {
      slot = {std::make_shared<Block>(), epoch_};
    } else if (slot.epoch != epoch_) {
      slot = {std::make_shared<Block>(*slot.block), epoch_};
    }
    slot.block->present |= bit(step);
    return slot.block->values[step % block_steps];
  }
  const T* find(std::uint32_t step) const {
    const auto slot = slots_.find(step / block_steps);
    if (slot == slots_.end() || !(slot->second.block->present & bit(step))) return nullptr;
    return &slot->second.block->values[step % block_steps];
  }
  bool empty() const { return slots_.empty(); }
  /// The first step in the map, which must not be empty.
  std::uint32_t first() const {
    const auto& [index, slot] = *slots_.begin();
    return index * block_steps + static_cast<std::uint32_t>(std::countr_zero(slot.block->present));
  }
  template <class Visit>  // visit(step, value), by step
  void for_each(Visit visit) const {
    for (const auto& [index, slot] : slots_)
      for (std::uint64_t rest = slot.block->present; rest; rest &= rest - 1) {
        const auto at = static_cast<std::uint32_t>(std::countr_zero(rest));
        visit(index * block_steps + at, slot.block->values[at]);
      }
  }
  /// Removes blocks that are completely before `step`; calls `visit(step, value)` for each step in them.
  template <class Visit>
  void erase_blocks_before(std::uint32_t step, Visit visit) {
    while (!slots_.empty() && (slots_.begin()->first + 1) * std::uint64_t{block_steps} <= step) {
      const auto& [index, slot] = *slots_.begin();
      for (std::uint64_t rest = slot.block->present; rest; rest &= rest - 1) {
        const auto at = static_cast<std::uint32_t>(std::countr_zero(rest));
        visit(index * block_steps + at, slot.block->values[at]);
      }
      slots_.erase(slots_.begin());
    }
  }
  /// An immutable copy; from now on this map clones a block before it writes to it.
  StepMap share() {
    ++epoch_;
    return *this;
  }

 private:
  struct Block {
    std::uint64_t present = 0;
    std::array<T, block_steps> values{};
  };
  struct Slot {
    std::shared_ptr<Block> block;
    std::uint64_t epoch = 0;  // an explicit count: use_count() would not order a reader's last read before our write
  };
  static std::uint64_t bit(std::uint32_t step) { return std::uint64_t{1} << (step % block_steps); }

  std::map<std::uint32_t, Slot> slots_;
  std::uint64_t epoch_ = 1;
};

}  // namespace rankscope
