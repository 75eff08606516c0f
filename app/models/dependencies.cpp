// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/dependencies.hpp"

#include <algorithm>
#include <tuple>

#include "app/models/span_details.hpp"
#include "app/models/time_axis.hpp"
#include "app/models/translated.hpp"
#include "telemetry/store/names.hpp"

namespace rankscope {
namespace {

constexpr std::size_t most_lines = 4, overlapping = 8;

std::tuple<std::int64_t, std::int32_t, Lane> place_in_time(const LaneKey& lane, const Span& span) {
  return {span.begin_ns, lane.rank, lane.lane};
}

/// The first span of the lane after `place`.
std::optional<Span> first_after(const StoreView& view, const LaneKey& lane, const LaneKey& of, const Span& from,
                                std::int64_t until_ns) {
  const auto place = place_in_time(of, from);
  std::optional<Span> last;
  for (const Span& span : view.spans(lane, {from.begin_ns, until_ns}, 0, overlapping)) {
    if (place_in_time(lane, span) > place) return span;
    last = span;
  }
  while (last) {
    last = view.next_span(lane, *last);
    if (last && place_in_time(lane, *last) > place) return last;
  }
  return std::nullopt;
}

std::optional<Span> last_before(const StoreView& view, const LaneKey& lane, const LaneKey& of, const Span& from,
                                TimeRange extent) {
  const auto place = place_in_time(of, from);
  auto span = first_after(view, lane, of, from, extent.end_ns);
  if (span) {
    span = view.previous_span(lane, *span);
  } else {
    // The lane's last op before, searched in longer and longer ranges.
    for (std::int64_t back = 1'000'000; !span; back *= 8) {
      const TimeRange stretch{std::max(extent.begin_ns, extent.end_ns - back), extent.end_ns + 1};
      const auto some = view.spans(lane, stretch, 0, 1);
      if (!some.empty()) {
        span = some.front();
        while (const auto next = view.next_span(lane, *span)) span = next;
      }
      if (stretch.begin_ns == extent.begin_ns) break;
    }
  }
  while (span && place_in_time(lane, *span) >= place) span = view.previous_span(lane, *span);
  return span;
}

/// "send of activations, micro-batch 0, rank 0 (began 100 µs later)".
std::string in_words(const StoreView& view, const Dependency& d, const Span& span) {
  const OpFields op = d.op.fields();
  std::string words = d.op.is_observed() ? name_of_op(view, d.rank, d.op) : phrase_of(d.op);
  if (op.micro_batch >= 0) words += translated(", micro-batch %1", op.micro_batch);
  if (op.block >= 0) words += translated(", block %1", op.block);
  if (d.rank != span.rank) words += translated(", rank %1", d.rank);
  if (d.step != span.step) words += translated(", step %1", static_cast<int>(d.step));
  if (!d.here) return words + translated(" (not recorded)");
  const std::int64_t ahead = span.begin_ns - d.time_ns;
  if (ahead == 0) return words + translated(" (at the same moment)");
  const std::string by = duration_text(ahead < 0 ? -ahead : ahead);
  if (d.needs == Needs::peer)
    return words + (ahead < 0 ? translated(" (began %1 later)", by) : translated(" (began %1 earlier)", by));
  return words + (ahead < 0 ? translated(" (ended %1 later)", by) : translated(" (ended %1 earlier)", by));
}

}  // namespace

std::vector<Dependency> dependencies_of(const StoreView& view, const Step& linked, Obtained obtained,
                                        const Span& span) {
  std::vector<Dependency> result;
  const Node node = linked.find(span.rank, span.op);
  if (node == nobody) return result;
  const auto add = [&](Needs needs, std::uint32_t step, Node other) {
    Dependency dependency{needs, static_cast<std::int32_t>(linked.rank_of(other)), step, linked.ids[other], false, 0};
    if (const auto there = view.find(dependency.rank, step, dependency.op, obtained)) {
      dependency.here = true;
      dependency.time_ns = needs == Needs::peer ? there->begin_ns : there->end_ns;
    }
    result.push_back(dependency);
  };
  // Imported ops of a lane may overlap: nothing waits for one that ends after itself.
  if (const auto before = view.previous_span({span.rank, span.op.lane(), obtained}, span);
      before && before->end_ns <= span.end_ns)
    result.push_back({Needs::lane, span.rank, before->step, before->op, true, before->end_ns});
  for (const Node before : linked.after[node]) add(Needs::data, span.step, before);
  if (span.step > 0)
    for (const Node before : linked.after_previous[node]) add(Needs::before, span.step - 1, before);
  if (linked.exchange[node] != nobody)
    for (const Node member : linked.members[linked.exchange[node]])
      if (member != node) add(Needs::peer, span.step, member);
  std::stable_sort(result.begin(), result.end(), [](const Dependency& a, const Dependency& b) {
    return std::pair(a.here, a.time_ns) > std::pair(b.here, b.time_ns);
  });
  return result;
}

std::vector<std::string> dependency_lines(const StoreView& view, const std::vector<Dependency>& dependencies,
                                          const Span& span) {
  std::vector<std::string> lines;
  for (const Dependency& d : dependencies) {
    if (lines.size() == most_lines) {
      lines.push_back(translated("and %1 more", static_cast<int>(dependencies.size() - most_lines)));
      break;
    }
    const std::string before =
        d.needs == Needs::lane ? translated("previous op on this lane: ") : translated("also after: ");
    lines.push_back((lines.empty() ? translated("waited for: ") : before) + in_words(view, d, span));
  }
  return lines;
}

std::optional<std::pair<LaneKey, Span>> in_time(const StoreView& view, Obtained obtained, LaneKey lane,
                                                const Span& from, int by) {
  std::optional<std::pair<LaneKey, Span>> best;
  const TimeRange extent = view.extent(obtained);
  for (const LaneKey& key : view.lanes()) {
    if (key.obtained != obtained) continue;
    const auto candidate = by > 0 ? first_after(view, key, lane, from, extent.end_ns + 1)
                                  : last_before(view, key, lane, from, {extent.begin_ns, extent.end_ns + 1});
    if (!candidate) continue;
    const bool nearer = !best || (by > 0 ? place_in_time(key, *candidate) < place_in_time(best->first, best->second)
                                         : place_in_time(key, *candidate) > place_in_time(best->first, best->second));
    if (nearer) best.emplace(key, *candidate);
  }
  return best;
}

}  // namespace rankscope
