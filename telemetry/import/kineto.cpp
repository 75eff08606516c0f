#include "telemetry/import/kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/op/words.hpp"
#include "telemetry/import/communication.hpp"
#include "telemetry/import/kineto_events.hpp"

namespace rankscope::import {
namespace {

/// What a name on a thread means.
enum class Role : std::uint8_t {
  other,
  step,
  backward,
  recompute,
  optimizer,
  load_batch,
  issue,     ///< issues an exchange or waits for it
  exchange,  ///< of a library that works on the host, such as gloo
};

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return text.starts_with(prefix); });
}

Role role_of(std::string_view name) {
  if (name.starts_with("ProfilerStep#")) return Role::step;
  if (name.starts_with("autograd::engine::evaluate_function")) return Role::backward;
  if (name.starts_with("CheckpointFunctionBackward")) return Role::recompute;
  if (starts_with_any(name, {"Optimizer.step#", "Optimizer.zero_grad#"})) return Role::optimizer;
  if (name.starts_with("enumerate(DataLoader)#")) return Role::load_batch;
  if (starts_with_any(name, {"gloo:", "mpi:", "ucc:"})) return Role::exchange;
  if (name == "record_param_comms" ||
      starts_with_any(name, {"c10d::", "c10d_functional::", "_c10d_functional", "nccl:", "rccl:", "xccl:"}))
    return Role::issue;
  return Role::other;
}
constexpr bool gives_context(Role role) { return role >= Role::backward && role <= Role::load_batch; }

/// What an exchange is called in RankTrace::names.
std::string exchange_name(OpKind kind, std::string_view said) {
  return std::string(said.find("barrier") == std::string_view::npos ? name_of(kind) : "barrier");
}

struct Change {
  std::int64_t time_ns = 0;
  Role context = Role::other;
};

/// A thread's or a stream's part of the trace.
struct Row {
  std::vector<std::uint32_t> events;  ///< by begin, the longer first
  std::vector<Change> contexts;
  std::vector<std::uint32_t> issues;  ///< those of `events` that issue an exchange
  std::size_t operators = 0;          ///< outside backward
  std::size_t marks = 0;              ///< of steps
  bool is_stream = false, is_autograd = false, has_kernels = false;
  std::int64_t first_launched_ns = INT64_MAX;  ///< begin of the first work whose launch is in the trace
};

class Interpreter {
 public:
  Interpreter(KinetoEvents events, const std::filesystem::path& file) : in_(std::move(events)) {
    out_.file = file.string();
    out_.rank = in_.rank;
    out_.world_size = in_.world_size;
    out_.host = in_.host;
    out_.backend = in_.backend;
    out_.groups = in_.groups;
    if (out_.rank < 0 && (out_.rank = rank_in_name(file)) >= 0)
      out_.remarks.push_back("the rank is from the file's name: the trace has no distributedInfo");
    for (const std::string& name : in_.names) roles_.push_back(role_of(name));
  }

  RankTrace interpret() {
    leave_out_far_events();
    sort_into_rows();
    find_steps();
    for (Row& row : rows_)
      if (!row.is_stream) find_contexts(row);
    find_main_thread();
    find_last_backwards();
    find_launches();
    for (const KinetoEvent& event : in_.events)
      if (is_on_device(event.kind)) add_device_work(event);
    for (const std::size_t row : threads_in_order()) add_thread(row);
    find_memory();
    finish();
    return std::move(out_);
  }

 private:
  const KinetoEvent& event(std::uint32_t index) const { return in_.events[index]; }
  Role role(const KinetoEvent& e) const { return roles_[e.name]; }
  const KinetoCommunication* communication(const KinetoEvent& e) const {
    return e.communication < 0 ? nullptr : &in_.communications[static_cast<std::size_t>(e.communication)];
  }

  /// Some events have a time of zero or of another clock. A trace is of minutes: what is a day from its middle is
  /// wrong.
  void leave_out_far_events() {
    constexpr std::int64_t day_ns = 86'400'000'000'000;
    std::vector<std::int64_t> begins;
    for (const KinetoEvent& e : in_.events) begins.push_back(e.begin_ns);
    const auto middle = begins.begin() + static_cast<std::ptrdiff_t>(begins.size() / 2);
    std::nth_element(begins.begin(), middle, begins.end());
    const std::size_t far = std::erase_if(in_.events, [&](const KinetoEvent& e) {
      return static_cast<double>(e.begin_ns) < static_cast<double>(*middle) - day_ns ||
             static_cast<double>(e.end_ns) > static_cast<double>(*middle) + day_ns;
    });
    if (far > 0) remark(fmt::format("events more than a day from the others are left out: {}", far));
  }

  void sort_into_rows() {
    rows_.resize(in_.rows.size());
    std::map<std::int64_t, std::size_t> work;
    for (std::uint32_t i = 0; i < in_.events.size(); ++i) {
      const KinetoEvent& e = event(i);
      Row& row = rows_[e.row];
      if (is_on_device(e.kind)) {
        row.is_stream = true;
        ++work[in_.rows[e.row].process];
        row.has_kernels |= e.kind == KinetoKind::kernel && !kernel_communication(e);
      } else {
        row.events.push_back(i);
      }
    }
    has_device_ = !work.empty();
    has_devices_ = work.size() > 1;
    for (const auto& [device, count] : work)
      if (count > work[device_]) device_ = device;
    if (has_device_ && !work.contains(device_)) device_ = work.begin()->first;
    if (has_devices_)
      remark(fmt::format("its file has the work of several devices ({}): give one trace of each rank", work.size()));
    out_.device = has_device_ ? "" : "cpu";
    for (const auto& [device, name] : in_.devices)
      if (has_device_ && device == device_) out_.device = name;
    for (Row& row : rows_)
      std::ranges::sort(row.events, [&](std::uint32_t a, std::uint32_t b) {
        const KinetoEvent &x = event(a), &y = event(b);
        return std::tuple(x.begin_ns, y.end_ns, a) < std::tuple(y.begin_ns, x.end_ns, b);
      });
  }

  void find_steps() {
    std::set<std::uint32_t> numbers;
    for (const KinetoEvent& e : in_.events) {
      if (is_on_device(e.kind) || role(e) != Role::step) continue;
      const std::string& name = in_.names[e.name];
      std::uint32_t number = 0;
      const auto [end, error] = std::from_chars(name.data() + 13, name.data() + name.size(), number);
      if (error != std::errc{} || !numbers.insert(number).second) continue;
      out_.steps.push_back({number, e.begin_ns, e.end_ns});
      ++rows_[e.row].marks;
    }
    out_.marks_steps = !out_.steps.empty();
    if (!out_.marks_steps) {
      TracedStep all{0, INT64_MAX, INT64_MIN};
      for (const KinetoEvent& e : in_.events) {
        all.begin_ns = std::min(all.begin_ns, e.begin_ns);
        all.end_ns = std::max(all.end_ns, e.end_ns);
      }
      out_.steps.push_back(all);
    }
    std::ranges::sort(out_.steps, {}, &TracedStep::number);
    by_begin_.resize(out_.steps.size());
    std::iota(by_begin_.begin(), by_begin_.end(), std::size_t{0});
    std::ranges::stable_sort(by_begin_, {}, [&](std::size_t s) { return out_.steps[s].begin_ns; });
  }

  /// Into out_.steps; empty: before the first, after the last, or between two that do not follow each other.
  std::optional<std::size_t> step_at(std::int64_t time_ns) const {
    const auto after =
        std::ranges::upper_bound(by_begin_, time_ns, {}, [&](std::size_t s) { return out_.steps[s].begin_ns; });
    if (after == by_begin_.begin()) return {};
    const TracedStep& step = out_.steps[*(after - 1)];
    if (time_ns <= step.end_ns) return *(after - 1);
    if (after == by_begin_.end() || out_.steps[*after].number != step.number + 1) return {};
    return *(after - 1);
  }

  void find_contexts(Row& row) {
    struct Open {
      std::int64_t end_ns;
      Role context;
    };
    std::vector<Open> open;
    const auto change = [&](std::int64_t time, Role context) {
      const Role before = row.contexts.empty() ? Role::other : row.contexts.back().context;
      if (context != before)
        row.contexts.push_back({row.contexts.empty() ? time : std::max(time, row.contexts.back().time_ns), context});
    };
    const auto close_until = [&](std::int64_t time) {
      while (!open.empty() && open.back().end_ns <= time) {
        const std::int64_t end = open.back().end_ns;
        open.pop_back();
        change(end, open.empty() ? Role::other : open.back().context);
      }
    };
    for (const std::uint32_t i : row.events) {
      const KinetoEvent& e = event(i);
      if (role(e) == Role::issue) row.issues.push_back(i);
      close_until(e.begin_ns);
      const bool is_repeated = e.is_recorded && !open.empty() && open.back().context == Role::backward;
      const Role context = is_repeated ? Role::recompute : role(e);
      if (gives_context(context)) {
        row.is_autograd |= context == Role::backward;
        open.push_back({e.end_ns, context});
        change(e.begin_ns, context);
      } else if (e.kind == KinetoKind::cpu_op && (open.empty() || open.back().context != Role::backward)) {
        ++row.operators;
      }
    }
    close_until(INT64_MAX);
  }

  void find_main_thread() {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const Row &row = rows_[r], &best = rows_[main_];
      if (row.is_stream) continue;
      if (best.is_stream || std::tuple(row.marks, row.operators) > std::tuple(best.marks, best.operators)) main_ = r;
    }
  }

  void find_last_backwards() {
    last_backward_.assign(out_.steps.size(), INT64_MIN);
    for (const Row& row : rows_)
      for (const Change& change : row.contexts)
        if (change.context == Role::backward)
          if (const auto step = step_at(change.time_ns))
            last_backward_[*step] = std::max(last_backward_[*step], change.time_ns);
  }

  OpKind kind_at(std::size_t r, std::int64_t time_ns, std::size_t step) const {
    const Row& row = rows_[r];
    const auto after = std::ranges::upper_bound(row.contexts, time_ns, {}, &Change::time_ns);
    switch (after == row.contexts.begin() ? Role::other : (after - 1)->context) {
      case Role::backward: return OpKind::backward;
      case Role::recompute: return OpKind::recompute;
      case Role::optimizer: return OpKind::optimizer;
      case Role::load_batch: return OpKind::load_batch;
      default: break;
    }
    if (r == main_) return time_ns < last_backward_[step] ? OpKind::forward : OpKind::compute;
    return row.is_autograd ? OpKind::backward : OpKind::compute;
  }

  /// Device work by its launch, and by the operator around it.
  void find_launches() {
    if (!has_device_) return;
    for (std::uint32_t i = 0; i < in_.events.size(); ++i) {
      const KinetoEvent& e = event(i);
      if (e.kind == KinetoKind::runtime && e.correlation >= 0) launches_.emplace_back(e.correlation, i);
      if (e.kind == KinetoKind::cpu_op && e.external >= 0 && e.communication >= 0) records_[e.external] = i;
    }
    std::ranges::sort(launches_);
    // A device still does what was launched before the profiler began: of that there is no launch.
    for (const KinetoEvent& e : in_.events)
      if (is_on_device(e.kind) && launch_of(e) != nullptr)
        rows_[e.row].first_launched_ns = std::min(rows_[e.row].first_launched_ns, e.begin_ns);
  }
  const KinetoEvent* launch_of(const KinetoEvent& e) const {
    const auto found = std::ranges::lower_bound(launches_, std::pair(e.correlation, 0U));
    return found == launches_.end() || found->first != e.correlation || e.correlation < 0 ? nullptr
                                                                                          : &event(found->second);
  }

  std::optional<KernelCommunication> kernel_communication(const KinetoEvent& e) {
    if (e.kind != KinetoKind::kernel) return {};
    if (const auto known = by_kernel_.find(e.name); known != by_kernel_.end()) return known->second;
    return by_kernel_[e.name] = communication_of_kernel(in_.names[e.name]);
  }

  void add_device_work(const KinetoEvent& e) {
    const KinetoEvent* launch = launch_of(e);
    const std::int64_t first = rows_[e.row].first_launched_ns;
    if (out_.marks_steps && launch == nullptr && first != INT64_MAX && e.begin_ns < first) return leave_out();
    const std::int64_t time = launch != nullptr ? launch->begin_ns : e.begin_ns;
    const auto step = step_at(time);
    if (!step) return leave_out();
    if (add_device_exchange(e, launch, *step)) return;
    OpKind kind = launch != nullptr ? kind_at(launch->row, time, *step) : OpKind::compute;
    const std::string& name = in_.names[e.name];
    if (e.kind == KinetoKind::memcpy && name.find("DtoD") == std::string::npos) kind = OpKind::copy;
    const TracedUse use = rows_[e.row].has_kernels ? TracedUse::compute : TracedUse::copy;
    add_span(lane_of(stream_name(e), use, "other streams"), e, e.name, kind, *step);
  }
  std::string stream_name(const KinetoEvent& e) const {
    const KinetoRow& row = in_.rows[e.row];
    return has_devices_ ? fmt::format("device {} stream {}", row.process, row.number)
                        : fmt::format("stream {}", row.number);
  }

  /// What the operators around a launch, or the last messages before it, say of the exchange.
  struct Around {
    const KinetoCommunication* record = nullptr;  ///< record_param_comms with its arguments
    const KinetoEvent* annotation = nullptr;      ///< nccl:all_reduce
  };
  Around around(const KinetoEvent& launch) const {
    constexpr int look_back = 8;
    constexpr std::int64_t near_ns = 5'000'000;
    Around result, earlier;
    const auto& issues = rows_[launch.row].issues;
    auto at = std::ranges::upper_bound(issues, launch.begin_ns, {}, [&](std::uint32_t i) { return event(i).begin_ns; });
    for (int n = 0; n < look_back && at != issues.begin(); ++n) {
      const KinetoEvent& e = event(*--at);
      if (e.end_ns < launch.begin_ns - near_ns) continue;
      Around& to = e.end_ns >= launch.begin_ns ? result : earlier;
      const KinetoCommunication* c = communication(e);
      const bool says = c != nullptr && (!c->collective.empty() || c->group_size > 0);
      if (says && to.record == nullptr) to.record = c;
      if (e.kind == KinetoKind::annotation && to.annotation == nullptr && kind_of_communication(in_.names[e.name]))
        to.annotation = &e;
    }
    if (result.record == nullptr && result.annotation == nullptr && earlier.record != nullptr) {
      const auto kind = kind_of_communication(earlier.record->collective);
      if (kind == OpKind::send || kind == OpKind::receive) result.record = earlier.record;
    }
    return result;
  }

  bool add_device_exchange(const KinetoEvent& e, const KinetoEvent* launch, std::size_t step) {
    const std::optional<KernelCommunication> named = kernel_communication(e);
    const KinetoCommunication* c = communication(e);
    if (c == nullptr && !named) return false;
    if (c == nullptr)
      if (const auto record = records_.find(e.external); e.external >= 0 && record != records_.end())
        c = communication(event(record->second));
    const Around hints = launch != nullptr ? around(*launch) : Around{};
    if (c == nullptr) c = hints.record;
    std::string_view said;
    if (c != nullptr) said = c->collective;
    std::optional<OpKind> kind = kind_of_communication(said);
    if (!kind && hints.annotation != nullptr) kind = kind_of_communication(said = in_.names[hints.annotation->name]);
    if (!kind && named) kind = named->kind;
    std::string name = exchange_name(kind.value_or(OpKind::send), said);
    if (!kind) {
      name = in_.names[e.name];
      kind = OpKind::send;
      remark(
          "some communication kernels say neither what they do nor for whom: they are shown as sends without a peer");
      TracedExchange unknown;
      unknown.is_of_unknown_kind = true;
      add_exchange_span(e, name, *kind, unknown, step);
      return true;
    }
    const KinetoCommunication* annotated = hints.annotation != nullptr ? communication(*hints.annotation) : nullptr;
    if (c == nullptr) c = annotated;
    if (c != nullptr && annotated != nullptr && c->in_elements < 0 && annotated->dimension_elements >= 0) {
      // An old record has the group, the annotation the sizes.
      KinetoCommunication both = *c;
      both.dimension_elements = annotated->dimension_elements;
      both.type = annotated->type;
      add_exchange(e, name, *kind, &both, step);
      return true;
    }
    add_exchange(e, name, *kind, c, step);
    return true;
  }

  void add_exchange(const KinetoEvent& e, const std::string& name, OpKind kind, const KinetoCommunication* c,
                    std::size_t step) {
    TracedExchange exchange;
    exchange.group = group_of(c);
    const bool is_message = kind == OpKind::send || kind == OpKind::receive;
    if (c != nullptr) {
      // Messages are counted by each rank for itself, so their numbers differ between the two ends.
      if (!is_message) exchange.sequence = std::max<std::int64_t>(-1, c->sequence);
      const std::int64_t peer = kind == OpKind::send ? c->destination : kind == OpKind::receive ? c->source : -1;
      if (peer >= 0 && peer <= INT32_MAX) exchange.peer = static_cast<int>(peer);
      std::int64_t elements = c->in_elements;
      if (kind == OpKind::receive && elements <= 0) elements = c->out_elements;
      if (elements < 0) elements = c->dimension_elements;
      const int size = bytes_of_type(c->type);
      if (elements < 0 || size == 0 || __builtin_mul_overflow(elements, size, &exchange.bytes)) exchange.bytes = -1;
    }
    add_exchange_span(e, name, kind, exchange, step);
  }

  void add_exchange_span(const KinetoEvent& e, const std::string& name, OpKind kind, const TracedExchange& exchange,
                         std::size_t step) {
    const std::string name_of_lane = exchange.group >= 0    ? communication_lane(exchange.group)
                                     : is_on_device(e.kind) ? stream_name(e) + " (unknown group)"
                                                            : "collectives of unknown groups";
    const std::uint32_t lane = lane_of(name_of_lane, TracedUse::communication, "other groups");
    add_span(lane, e, label(name), kind, step, static_cast<std::int32_t>(out_.exchanges.size()));
    out_.exchanges.push_back(exchange);
  }

  std::string communication_lane(int group) const {
    const TracedGroup& g = out_.groups[static_cast<std::size_t>(group)];
    constexpr std::size_t most = 12;  // hashed names are 40 digits
    const std::string name = g.name.size() > most ? g.name.substr(0, most) + "…" : g.name;
    if (g.description.empty() || g.description == "undefined") return fmt::format("collectives of {}", name);
    return fmt::format("collectives of {} ({})", g.description, name);
  }

  /// The only group of pg_config with several ranks; −1: there are none or several, or ranks are unknown.
  int only_group() const {
    int only = -1;
    for (std::size_t g = 0; g < in_.groups.size(); ++g) {
      if (in_.groups[g].ranks.size() == 1) continue;
      if (only >= 0 || in_.groups[g].ranks.empty()) return -1;
      only = static_cast<int>(g);
    }
    return only;
  }

  int group_of(const KinetoCommunication* c) {
    const bool is_world = c != nullptr && in_.world_size > 1 && c->group_size == in_.world_size;
    if (c == nullptr || (c->group.empty() && c->ranks.empty() && !is_world)) {
      const int only = only_group();
      if (only >= 0)
        remark(
            "some exchanges do not say their process group: they are taken to be of the only one of several ranks in "
            "pg_config");
      return only;
    }
    std::vector<int> ranks = parse_ranks(c->ranks);
    // A long list is written without its middle.
    if (ranks.empty() && c->group_size > 0 && c->group_size == in_.world_size && in_.world_size <= (1 << 20)) {
      ranks.resize(static_cast<std::size_t>(in_.world_size));
      std::iota(ranks.begin(), ranks.end(), 0);
    }
    const auto is_it = [&](const TracedGroup& g) { return c->group.empty() ? g.ranks == ranks : g.name == c->group; };
    auto found = std::ranges::find_if(out_.groups, is_it);
    const std::string name = !c->group.empty() ? c->group : !c->ranks.empty() ? c->ranks : "all ranks";
    if (found == out_.groups.end()) found = out_.groups.insert(found, TracedGroup{name, c->description, ranks});
    if (found->ranks.empty()) found->ranks = ranks;
    if (found->description.empty()) found->description = c->description;
    return static_cast<int>(found - out_.groups.begin());
  }

  /// The main thread, then those with most events.
  std::vector<std::size_t> threads_in_order() const {
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < rows_.size(); ++r)
      if (!rows_[r].events.empty()) order.push_back(r);
    const auto key = [&](std::size_t r) {
      return std::tuple(r != main_, -static_cast<std::int64_t>(rows_[r].events.size()), in_.rows[r].process,
                        in_.rows[r].number);
    };
    std::ranges::sort(order, {}, key);
    return order;
  }

  /// "pt_gloo_runloop" of "thread 4711 (pt_gloo_runloop)"; names that many threads inherit say nothing.
  std::string thread_name(std::size_t r) {
    std::string name = r == main_ ? "main thread" : rows_[r].is_autograd ? "autograd thread" : "thread";
    const std::string& own = in_.rows[r].name;
    const std::size_t from = own.find('('), to = own.rfind(')');
    if (name == "thread" && from != std::string::npos && to != std::string::npos && to > from + 1) {
      const std::string inner = own.substr(from + 1, to - from - 1);
      if (!starts_with_any(inner, {"python", "pt_main_thread"})) name = inner;
    }
    const int number = ++thread_names_[name];
    return number == 1 ? name : fmt::format("{} {}", name, number);
  }

  /// Operators that contain something else than their own computation: an issue, in which they may wait; a backward;
  /// within a backward, what autograd records, which is a forward that is repeated.
  std::set<std::uint32_t> find_mixed_operators(const Row& row) const {
    std::set<std::uint32_t> mixed;
    std::vector<std::uint32_t> open;
    for (const std::uint32_t i : row.events) {
      const KinetoEvent& e = event(i);
      while (!open.empty() && event(open.back()).end_ns <= e.begin_ns) open.pop_back();
      if (role(e) == Role::issue || role(e) == Role::exchange || role(e) == Role::backward) {
        mixed.insert(open.begin(), open.end());
      } else if (e.is_recorded && std::ranges::any_of(open, [&](auto o) { return role(event(o)) == Role::backward; })) {
        for (const std::uint32_t o : open)
          if (!event(o).is_recorded) mixed.insert(o);
      }
      open.push_back(i);
    }
    return mixed;
  }

  void add_thread(std::size_t r) {
    const Row& row = rows_[r];
    const std::set<std::uint32_t> split = has_device_ ? std::set<std::uint32_t>{} : find_mixed_operators(row);
    std::optional<std::uint32_t> lane;
    const KinetoEvent* issue = nullptr;
    std::int64_t busy_until = INT64_MIN;
    for (const std::uint32_t i : row.events) {
      const KinetoEvent& e = event(i);
      const Role what = role(e);
      if (what == Role::issue && (issue == nullptr || e.begin_ns >= issue->end_ns)) issue = &e;
      const bool is_issued_here = issue != nullptr && issue->begin_ns <= e.begin_ns && e.begin_ns < issue->end_ns;
      if (what == Role::exchange) {
        if (e.begin_ns < busy_until && !is_issued_here) continue;
        add_host_exchange(e, is_issued_here ? issue : nullptr);
        // A library's own thread does nothing else meanwhile; the thread that issues goes on.
        if (!is_issued_here) busy_until = std::max(busy_until, e.end_ns);
        continue;
      }
      if (e.begin_ns < busy_until) continue;
      if (!has_device_ && what == Role::issue) {
        busy_until = e.end_ns;
        continue;
      }
      const bool is_taken =
          what == Role::load_batch || e.kind == KinetoKind::cpu_op || (has_device_ && e.kind == KinetoKind::runtime);
      if (!is_taken || (!has_device_ && (what == Role::backward || split.contains(i)))) continue;
      if (what == Role::step) continue;
      busy_until = e.end_ns;
      const auto step = step_at(e.begin_ns);
      if (!step) {
        leave_out();
        continue;
      }
      if (!lane) lane = lane_of(thread_name(r), has_device_ ? TracedUse::host : TracedUse::compute, "other threads");
      add_span(*lane, e, e.name, kind_at(r, e.begin_ns, *step), *step);
    }
  }

  void add_host_exchange(const KinetoEvent& e, const KinetoEvent* issue) {
    const auto step = step_at(e.begin_ns);
    const std::string& text = in_.names[e.name];
    const auto kind = kind_of_communication(text);
    if (!kind) return;
    if (!step) return leave_out();
    KinetoCommunication c = communication(e) != nullptr ? *communication(e) : KinetoCommunication{};
    const KinetoCommunication* issued = issue != nullptr ? communication(*issue) : nullptr;
    if (issued != nullptr && (kind == OpKind::send || kind == OpKind::receive) && issued->third_input >= 0) {
      // A rank of the group.
      if (const int group = only_group(); group >= 0) {
        const auto& ranks = in_.groups[static_cast<std::size_t>(group)].ranks;
        if (static_cast<std::size_t>(issued->third_input) < ranks.size())
          c.destination = c.source = ranks[static_cast<std::size_t>(issued->third_input)];
      }
    }
    add_exchange(e, exchange_name(*kind, text), *kind, &c, *step);
  }

  std::uint32_t lane_of(const std::string& name, TracedUse use, const std::string& rest) {
    if (const auto known = lanes_.find(name); known != lanes_.end()) return known->second;
    // The last three places are for what is shared.
    if (out_.lanes.size() + 3 >= most_lanes && name != rest) {
      remark(fmt::format("it has more than {} streams, groups and threads: some share the lane “{}”", most_lanes - 3,
                         rest));
      return lane_of(rest, use, rest);
    }
    out_.lanes.push_back({name, use});
    return lanes_[name] = static_cast<std::uint32_t>(out_.lanes.size() - 1);
  }
  /// A name of ours among the trace's.
  std::uint32_t label(const std::string& name) {
    const auto [at, fresh] = labels_.try_emplace(name, static_cast<std::uint32_t>(in_.names.size()));
    if (fresh) in_.names.push_back(name);
    return at->second;
  }

  void add_span(std::uint32_t lane, const KinetoEvent& e, std::uint32_t name, OpKind kind, std::size_t step,
                std::int32_t exchange = -1) {
    out_.spans.push_back({lane, name, kind, out_.steps[step].number, exchange, e.begin_ns, e.end_ns});
  }
  void leave_out() { ++left_out_; }
  void remark(const std::string& text) {
    if (std::ranges::find(out_.remarks, text) == out_.remarks.end()) out_.remarks.push_back(text);
  }

  void find_memory() {
    std::map<std::int64_t, std::size_t> by_device;
    for (const KinetoMemory& m : in_.memory)
      if (m.device_type != 0) ++by_device[m.device];
    const bool is_of_device = !by_device.empty();
    if (has_device_ && !is_of_device) return;
    std::int64_t device = device_;
    if (is_of_device && !by_device.contains(device))
      device = std::ranges::max_element(by_device, {}, [](const auto& d) { return d.second; })->first;
    for (const KinetoMemory& m : in_.memory)
      if ((m.device_type != 0) == is_of_device && (!is_of_device || m.device == device))
        out_.memory.push_back({m.time_ns, m.allocated, m.reserved});
    std::ranges::stable_sort(out_.memory, {}, &TracedMemory::time_ns);
  }

  void finish() {
    std::unordered_map<std::uint32_t, std::uint32_t> used;
    std::ranges::stable_sort(out_.spans, {}, &TracedSpan::begin_ns);
    for (TracedSpan& span : out_.spans) {
      const auto [at, fresh] = used.try_emplace(span.name, static_cast<std::uint32_t>(out_.names.size()));
      if (fresh) out_.names.push_back(in_.names[span.name]);
      span.name = at->second;
    }
    for (const auto& [category, events] : in_.unread)
      remark(fmt::format("events of the category “{}” are not known, and are left out: {}", category, events));
    if (left_out_ > 0) remark(fmt::format("operations outside the marked steps are left out: {}", left_out_));
    if (!has_device_ && std::ranges::any_of(in_.events, [&](const KinetoEvent& e) {
          return e.kind == KinetoKind::runtime || in_.names[e.name].starts_with("nccl:");
        }))
      remark("it has no work of a GPU, only of threads: record ProfilerActivity.CUDA, too");
  }

  KinetoEvents in_;
  RankTrace out_;
  std::vector<Role> roles_;  ///< [name]
  std::vector<Row> rows_;    ///< as in_.rows
  bool has_device_ = false, has_devices_ = false;
  std::int64_t device_ = 0;
  std::size_t main_ = 0;
  std::vector<std::size_t> by_begin_;        ///< steps
  std::vector<std::int64_t> last_backward_;  ///< [step]
  std::vector<std::pair<std::int64_t, std::uint32_t>> launches_;
  std::unordered_map<std::int64_t, std::uint32_t> records_;
  std::unordered_map<std::uint32_t, std::optional<KernelCommunication>> by_kernel_;  ///< [name]
  std::map<std::string, std::uint32_t> lanes_, labels_;
  std::map<std::string, int> thread_names_;
  std::size_t left_out_ = 0;
};

/// The digits from there on; −1: none, or too many for a rank.
int number_at(std::string_view text, std::size_t at) {
  int number = -1;
  if (at >= text.size() || text[at] < '0' || text[at] > '9') return -1;
  return std::from_chars(text.data() + at, text.data() + text.size(), number).ec == std::errc{} ? number : -1;
}

}  // namespace

RankTrace read_kineto(const std::filesystem::path& file) {
  return Interpreter(read_kineto_events(file), file).interpret();
}

bool looks_like_trace(const std::filesystem::path& file) {
  const std::string name = lowered(file.filename().string());
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

int rank_in_name(const std::filesystem::path& file) {
  const std::string name = lowered(file.filename().string());
  for (const std::string_view word : {"rank", "worker"})
    for (std::size_t at = 0; (at = name.find(word, at)) != std::string::npos;) {
      at += word.size();
      const bool has_mark = at < name.size() && std::string_view("_-=. ").find(name[at]) != std::string_view::npos;
      if (const int rank = number_at(name, at + has_mark); rank >= 0) return rank;
    }
  return -1;
}

int number_at_end(const std::filesystem::path& file) {
  std::string stem = lowered(file.filename().string());
  for (const std::string_view end : {".gz", ".json", ".trace", ".pt"})
    if (stem.ends_with(end)) stem.resize(stem.size() - end.size());
  const std::size_t digits = stem.find_last_not_of("0123456789");
  if (digits == std::string::npos || stem.size() - digits > 6) return -1;
  return number_at(stem, digits + 1);
}

}  // namespace rankscope::import
