// A step of a single collective (model.kind = "collective"): this rank's input is written, the
// collective moves it, and the result is compared with the definition.
#include "engine/op/words.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {

CollectiveTask task_of(const StepProgram& step) {
  const ModelSpec& spec = step.scenario.model;
  const OpKind kind = spec.operation_kind();
  const int n = step.grid.data;
  return {kind, n, whole_elements(kind, n, spec.bytes, bytes_of(step.model.type)), has_root(kind) ? spec.root : 0};
}

namespace {

class Builder {
 public:
  Builder(const StepProgram& step, int rank) : task_(task_of(step)), type_(step.model.type), rank_(rank) {
    program_.rank = rank;
  }

  RankProgram build() {
    const OpKind kind = task_.kind;
    if (!has_parts(kind)) {
      const BufferIndex tensor = add("tensor", task_.elements);
      const bool is_sum = kind != OpKind::broadcast;
      collect(brings() ? use(tensor, Access::write) : Uses{},
              use(tensor, is_sum     ? Access::accumulate
                          : brings() ? Access::read
                                     : Access::write),
              keeps() ? use(tensor, Access::read) : Uses{});
    } else {
      const std::int64_t sent = brought_elements(task_, rank_), received = left_elements(task_, rank_);
      Uses load, moved, check;
      if (brings()) {
        const BufferIndex from = add("sent", sent);
        load = use(from, Access::write);
        moved = use(from, kind == OpKind::reduce_scatter ? Access::accumulate : Access::read);
      }
      if (keeps()) {
        const BufferIndex to = add("received", received);
        moved.push_back({to, Access::write});
        check = use(to, Access::read);
      }
      collect(std::move(load), std::move(moved), std::move(check));
    }
    return std::move(program_);
  }

 private:
  using Uses = std::vector<BufferUse>;
  static Uses use(BufferIndex buffer, Access access) { return {{buffer, access}}; }
  bool brings() const { return brought_elements(task_, rank_) > 0; }
  bool keeps() const { return left_elements(task_, rank_) > 0; }

  BufferIndex add(const char* name, std::int64_t elements) {
    return program_.add({name, BufferRole::activation, MemoryClass::buffers, type_, Shape{elements}});
  }
  void op(OpKind kind, Purpose purpose, GroupKind group, Uses uses) {
    program_.ops.push_back({OpId::of({kind, purpose}), group, -1, std::move(uses)});
  }
  /// A single rank has no peers, and its input is its result, as in communicators.
  void collect(Uses load, Uses moved, Uses check) {
    op(OpKind::load_batch, Purpose::alone, GroupKind::self, std::move(load));
    op(task_.kind, Purpose::alone, GroupKind::data, std::move(moved));
    if (has_root(task_.kind)) program_.ops.back().root = task_.root;
    op(OpKind::check, Purpose::none, GroupKind::self, std::move(check));
  }

  CollectiveTask task_;
  DType type_;
  int rank_;
  RankProgram program_;
};

}  // namespace

std::string task_words(const StepProgram& step) {
  const CollectiveTask task = task_of(step);
  const auto bytes = [&](std::int64_t elements) {
    return figure::bytes(static_cast<double>(elements * bytes_of(step.model.type)));
  };
  std::string words = fmt::format("one {} a step, {}, of {}", name_of(task.kind), step.scenario.plan.collective.name(),
                                  bytes(task.elements));
  if (has_parts(task.kind)) words += fmt::format(" in {} of {}", counted(task.n, "part"), bytes(task.part()));
  if (has_root(task.kind)) words += fmt::format(", root {}", task.root);
  return words;
}

RankProgram collective_alone(const StepProgram& step, int rank) { return Builder(step, rank).build(); }

}  // namespace rankscope
