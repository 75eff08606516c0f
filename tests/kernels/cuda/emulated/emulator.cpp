#include "emulator.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;

// Saves the callee-saved registers on the stack of the thread that stops, and restores those of the next one.
extern "C" void emulated_switch(void** from, void* to);
asm(R"(
  .text
  .globl emulated_switch
  .type emulated_switch, @function
emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size emulated_switch, .-emulated_switch
)");

// The addresses of the instructions before kernels, whose number encodes the launch bounds.
extern "C" const std::uintptr_t __start___patchable_function_entries[] __attribute__((weak));
extern "C" const std::uintptr_t __stop___patchable_function_entries[] __attribute__((weak));

namespace emulated {
namespace {

/// The program's own file, for its symbols.
class Program {
 public:
  Program() : file_("/proc/self/exe", std::ios::binary) {
    const auto header = read<ElfW(Ehdr)>(0);
    for (int s = 0; s < header.e_shnum; ++s)
      sections_.push_back(read<ElfW(Shdr)>(header.e_shoff + static_cast<std::uint64_t>(s) * sizeof(ElfW(Shdr))));
  }
  /// Calls visit(symbol, its name) for each symbol in a writable section.
  template <class Visit>
  void visit_variables(Visit visit) {
    for (const auto& table : sections_) {
      if (table.sh_type != SHT_SYMTAB) continue;
      std::string names(sections_.at(table.sh_link).sh_size, '\0');
      take(sections_.at(table.sh_link).sh_offset, names.data(), names.size());
      for (std::uint64_t at = 0; at < table.sh_size; at += sizeof(ElfW(Sym))) {
        const auto symbol = read<ElfW(Sym)>(table.sh_offset + at);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx < sections_.size() &&
            (sections_[symbol.st_shndx].sh_flags & SHF_WRITE) != 0)
          visit(symbol, std::string_view(names.c_str() + symbol.st_name));
      }
    }
  }

 private:
  void take(std::uint64_t at, char* into, std::size_t bytes) {
    file_.seekg(static_cast<std::streamoff>(at));
    if (!file_.read(into, static_cast<std::streamsize>(bytes)))
      throw std::logic_error("the program's file cannot be read");
  }
  template <class Value>
  Value read(std::uint64_t at) {
    Value value;
    take(at, reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }
  std::ifstream file_;
  std::vector<ElfW(Shdr)> sections_;
};

/// Variables that kernels declare __shared__: the static variables of their functions with that alignment.
std::vector<std::span<std::byte>> find_shared_variables() {
  std::uintptr_t base = 0;  // of the program, which is the first entry
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
        return 1;
      },
      &base);
  std::vector<std::span<std::byte>> found;
  Program().visit_variables([&](const ElfW(Sym) & symbol, std::string_view name) {
    if (name.starts_with("_ZZ") && name.find("rankscope7kernels4cuda") != name.npos && symbol.st_value % 4096 == 0)
      found.emplace_back(reinterpret_cast<std::byte*>(base + symbol.st_value), symbol.st_size);
  });
  if (found.empty()) throw std::logic_error("the program's __shared__ variables are not found: was it stripped?");
  return found;
}

const std::vector<std::span<std::byte>>& shared_variables() {
  static const std::vector<std::span<std::byte>> variables = find_shared_variables();
  return variables;
}

constexpr std::size_t stack_bytes = 128 << 10, shared_limit = 227 << 10, most_threads = 1024;
constexpr int warp_size = 32;

/// A barrier at which threads wait until all have arrived.
struct Barrier {
  int expected = 0, arrived = 0;
  unsigned generation = 0;
};

struct Warp {
  Barrier barrier;
  /// Two buffers, used in turn: when all lanes are at the next exchange, no lane still reads the one before the last.
  alignas(16) std::byte given[2][warp_size][most_given];
};

struct Copy {
  void* to;
  const void* from;  ///< null: zeros
  std::size_t bytes;
  void run() const {
    if (from != nullptr)
      std::memcpy(to, from, bytes);
    else
      std::memset(to, 0, bytes);
  }
};

struct Thread {
  void* stack_pointer = nullptr;
  dim3 index;
  int number = 0;
  bool finished = false;
  std::vector<std::vector<Copy>> copies{};  ///< pending, by group; the last one is not closed. Only in reverse order
};

struct Machine {
  std::mutex running_one;  ///< devices run in turn: the variables of device code are static
  Order order = Order::forward;
  std::unique_ptr<std::byte[]> stacks;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  Barrier block;
  Thread* running = nullptr;
  void* scheduler = nullptr;
  std::exception_ptr failure;
  std::uint64_t progress = 0;  ///< barriers passed and threads finished
  std::uint64_t arrivals = 0;  ///< of threads at barriers
  const std::function<void()>* body = nullptr;
  alignas(128) std::byte shared[shared_limit];
};

Machine& machine() {
  static Machine the_machine;  // static, like the variables of device code
  return the_machine;
}

void yield() {
  Machine& m = machine();
  emulated_switch(&m.running->stack_pointer, m.scheduler);
}

void wait(Barrier& barrier) {
  ++machine().arrivals;
  if (++barrier.arrived == barrier.expected) {
    barrier.arrived = 0;
    ++barrier.generation;
    ++machine().progress;
    return;
  }
  for (const unsigned generation = barrier.generation; barrier.generation == generation;) yield();
}

void thread_main() {
  Machine& m = machine();
  try {
    (*m.body)();
  } catch (...) {  // must not leave this stack
    m.failure = std::current_exception();
  }
  m.running->finished = true;
  ++m.progress;
  yield();
}

void prepare(Thread& thread, std::byte* stack) {
  auto* top = reinterpret_cast<void**>(stack + stack_bytes);
  // As after a call of thread_main: the stack is aligned to 16 before the return address.
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&thread_main);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  thread.stack_pointer = top;
  thread.finished = false;
  if (machine().order == Order::reverse) thread.copies.assign(1, {});
}

Warp& warp_of(const Thread& thread) { return machine().warps[static_cast<std::size_t>(thread.number / warp_size)]; }

void run_block(std::size_t shared_bytes) {
  Machine& m = machine();
  std::memset(m.shared, 0xFF, shared_bytes);
  for (const std::span<std::byte> variable : shared_variables()) std::memset(variable.data(), 0xFF, variable.size());
  const auto count = static_cast<int>(m.threads.size());
  m.block = {count, 0, 0};
  for (std::size_t w = 0; w < m.warps.size(); ++w) {
    const int rest = count - static_cast<int>(w) * warp_size;
    m.warps[w].barrier = {rest < warp_size ? rest : warp_size, 0, 0};
  }
  for (int i = 0; i < count; ++i)
    prepare(m.threads[static_cast<std::size_t>(i)], m.stacks.get() + static_cast<std::size_t>(i) * stack_bytes);
  for (int left = count; left > 0;) {
    const std::uint64_t before = m.progress;
    for (int k = 0; k < count; ++k) {
      Thread& thread = m.threads[static_cast<std::size_t>(m.order == Order::forward ? k : count - 1 - k)];
      if (thread.finished) continue;
      m.running = &thread;
      threadIdx = thread.index;
      emulated_switch(&m.scheduler, thread.stack_pointer);
      left -= thread.finished;
      if (m.failure) std::rethrow_exception(std::exchange(m.failure, nullptr));
    }
    if (m.progress == before)
      throw std::logic_error("block (" + std::to_string(blockIdx.x) + ", " + std::to_string(blockIdx.y) + ", " +
                             std::to_string(blockIdx.z) + "): " + std::to_string(left) +
                             " threads wait at a barrier that the others do not reach");
  }
}

}  // namespace

void set_order(Order order) { machine().order = order; }

void run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& body) {
  Machine& m = machine();
  const std::lock_guard one_at_a_time(m.running_one);
  const std::size_t count = std::size_t{block.x} * block.y * block.z;
  if (count == 0 || count > most_threads || block.z > 64 || shared_bytes > shared_limit || grid.y > 65535 ||
      grid.z > 65535 || grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7FFFFFFF)
    throw std::logic_error("a grid or block that no device takes: " + std::to_string(grid.x) + " x " +
                           std::to_string(grid.y) + " x " + std::to_string(grid.z) + " blocks of " +
                           std::to_string(count) + " threads, " + std::to_string(shared_bytes) + " bytes");
  if (!m.stacks) m.stacks = std::make_unique_for_overwrite<std::byte[]>(most_threads * stack_bytes);
  m.body = &body;
  m.threads.assign(count, {});
  m.warps.resize((count + warp_size - 1) / warp_size);
  int number = 0;
  for (unsigned z = 0; z < block.z; ++z)
    for (unsigned y = 0; y < block.y; ++y)
      for (unsigned x = 0; x < block.x; ++x, ++number) {
        m.threads[static_cast<std::size_t>(number)].index = {x, y, z};
        m.threads[static_cast<std::size_t>(number)].number = number;
      }
  blockDim = block;
  gridDim = grid;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  for (std::uint64_t k = 0; k < blocks; ++k) {
    const std::uint64_t b = m.order == Order::forward ? k : blocks - 1 - k;
    blockIdx = {static_cast<unsigned>(b % grid.x), static_cast<unsigned>(b / grid.x % grid.y),
                static_cast<unsigned>(b / grid.x / grid.y)};
    run_block(shared_bytes);
  }
}

int launch_bound(const void* kernel) {
  const auto begin = reinterpret_cast<std::uintptr_t>(kernel);
  std::uintptr_t nearest = begin - most_threads - 1;
  for (const std::uintptr_t* p = __start___patchable_function_entries; p < __stop___patchable_function_entries; ++p)
    if (*p <= begin && *p > nearest) nearest = *p;
  const auto before = static_cast<std::size_t>(begin - nearest);
  // Its own instructions, not those of the function before it.
  const auto* const bytes = reinterpret_cast<const unsigned char*>(nearest);
  if (before > most_threads || !std::all_of(bytes, bytes + before, [](unsigned char b) { return b == 0x90; })) return 0;
  return static_cast<int>(before);
}

std::byte* shared_memory() { return machine().shared; }
std::uint64_t arrivals() {
  const std::lock_guard lock(machine().running_one);
  return machine().arrivals;
}

void block_barrier() { wait(machine().block); }
void warp_barrier() { wait(warp_of(*machine().running).barrier); }
int lane() { return machine().running->number % warp_size; }

void begin_copy(void* to, const void* from, std::size_t bytes) {
  Machine& m = machine();
  const Copy copy{to, from, bytes};
  if (m.order == Order::reverse)
    m.running->copies.back().push_back(copy);
  else
    copy.run();
}
void commit_copies() {
  if (machine().order == Order::reverse) machine().running->copies.emplace_back();
}
void wait_for_copies(int left) {
  auto& groups = machine().running->copies;
  for (; groups.size() > static_cast<std::size_t>(left) + 1; groups.erase(groups.begin()))
    for (const Copy& copy : groups.front()) copy.run();
}

const std::byte* give(const void* mine, std::size_t bytes) {
  Warp& warp = warp_of(*machine().running);
  auto& given = warp.given[warp.barrier.generation % 2];
  std::memcpy(given[lane()], mine, bytes);
  wait(warp.barrier);
  return given[0];
}

void exchange(const void* mine, void* theirs, std::size_t bytes, int lane) {
  const std::byte* given = give(mine, bytes);
  std::memcpy(theirs, given + static_cast<std::size_t>(lane) * most_given, bytes);
}

}  // namespace emulated
