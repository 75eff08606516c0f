// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/hang/hang_rows.hpp"

#include <algorithm>
#include <cmath>

#include "app/models/run_plan.hpp"
#include "app/views/common/text.hpp"
#include "engine/op/contains.hpp"

namespace rankscope::app {
namespace {

constexpr std::uint32_t least_steps = 3;
constexpr std::size_t most_ranks_named = 16;

using text::tr;

QString token(OpId op) { return op.valid() ? QString::fromStdString(to_token(op)) : text::unknown(); }

QString op_of_step(OpId op, std::uint32_t step) {
  return op.valid() ? QStringLiteral("%1 · %2").arg(token(op)).arg(step) : text::unknown();
}

QString ranks_of(const PendingCommunication& communication, MemberState state) {
  QStringList ranks;
  std::size_t more = 0;
  for (std::size_t m = 0; m < communication.members.size(); ++m) {
    if (communication.states[m] != state) continue;
    if (ranks.size() < static_cast<qsizetype>(most_ranks_named))
      ranks << QString::number(communication.members[m]);
    else
      ++more;
  }
  if (ranks.isEmpty()) return text::unknown();
  return ranks.join(QStringLiteral(", ")) + (more > 0 ? tr(" and %1 more").arg(more) : QString());
}

/// "rank 2, whose step 17 is missing": whom an asynchronous server waits for before it serves the ranks ahead.
QString words_of(const StalenessWait& bound) {
  QStringList ranks;
  for (const int rank : bound.workers) ranks << QString::number(rank);
  return tr("rank %1, whose step %2 is missing").arg(ranks.join(QStringLiteral(", "))).arg(bound.oldest);
}

bool is_late(const Standstill& still, int rank) { return contains(still.late, rank); }

/// Missing ranks are highlighted if one of them is late.
Tone tone_of_missing(const PendingCommunication& communication, const Standstill& still) {
  const std::vector<int> away = communication.missing();
  return std::any_of(away.begin(), away.end(), [&](int rank) { return is_late(still, rank); }) ? Tone::bad : Tone::text;
}

std::vector<Cell> row_of(const PendingCommunication& communication, const Standstill& still, std::int64_t origin_ns) {
  const bool message = communication.group == GroupKind::self;
  const QString group =
      message ? tr("message, rank %1 to rank %2").arg(communication.members[0]).arg(communication.members[1])
              : tr("%1 group of %2").arg(text::words(name_of(communication.group))).arg(communication.members.size());
  return {{op_of_step(communication.op, communication.step)},
          {group, Tone::dim},
          {ranks_of(communication, MemberState::not_arrived), tone_of_missing(communication, still)},
          {ranks_of(communication, MemberState::arrived)},
          {ranks_of(communication, MemberState::finished), Tone::dim},
          {text::nanoseconds(communication.since_ns - origin_ns), Tone::dim}};
}

std::vector<Cell> row_of(const LanePlace& lane, const Standstill& still, const RunContext& context,
                         std::int64_t origin_ns) {
  const RankProgram& program = context.programs[static_cast<std::size_t>(lane.rank)];
  // Of the lane's current op, else of the last one that it left: a lane may serve several groups.
  QString group = text::unknown();
  for (const OpId id : {lane.next, lane.left}) {
    const auto op = std::find_if(program.ops.begin(), program.ops.end(), [&](const Op& o) { return o.id == id; });
    if (!id.valid() || op == program.ops.end() || !is_communication(op->id.kind())) continue;
    group = is_collective(op->id.kind()) ? tr("%1, %2 ranks")
                                               .arg(text::words(name_of(op->group)))
                                               .arg(context.step.grid.group_of(lane.rank, op->group).size())
                                         : tr("with rank %1").arg(op->peer);
    break;
  }
  Cell now{text::unknown(), Tone::dim, {}}, since{text::unknown(), Tone::dim, {}};
  Cell why{QString(), Tone::dim, {}};
  if (!lane.in_order) {
    now.words = tr("receives from any worker");
    if (const StalenessWait* bound = still.staleness_wait_of(lane.rank)) {
      now.words = tr("receives from any worker up to step %1").arg(bound->last);
      why = {tr("waits for %1").arg(words_of(*bound)), Tone::bad, {}};
    }
  } else if (!lane.next.valid()) {
    now.words = tr("done with all steps");
  } else if (lane.entered) {
    now = {op_of_step(lane.next, lane.next_step), Tone::text, {}};
    since.words = text::nanoseconds(lane.entered_ns - origin_ns);
    if (is_late(still, lane.rank) && !is_communication(lane.next.kind())) now.tone = Tone::bad;
    for (const PendingCommunication& communication : still.pending) {
      const OpId mine = lane.next.kind() == OpKind::receive ? counterpart(lane.next) : lane.next;
      const bool member = contains(communication.members, lane.rank);
      if (communication.op != mine || communication.step != lane.next_step || !member) continue;
      const std::vector<int> away = communication.missing();
      why = {tr("waits for rank %1").arg(ranks_of(communication, MemberState::not_arrived)),
             tone_of_missing(communication, still)};
      if (const StalenessWait* bound = away.size() == 1 ? still.staleness_wait_of(away.front()) : nullptr)
        why.words += tr(", which waits for %1").arg(words_of(*bound));
    }
  } else {
    now.words = tr("before %1").arg(op_of_step(lane.next, lane.next_step));
    why.words = tr("needs %1").arg(token(lane.waits_for));
  }
  const RunPlan plan{context.step.scenario, context.step.grid};
  return {{text::rank_name(plan, lane.rank)},
          {text::words(name_of(lane.lane))},
          {group, Tone::dim},
          {op_of_step(lane.left, lane.left_step), lane.left.valid() ? Tone::text : Tone::dim, {}},
          now,
          since,
          why};
}

double median_step(const StoreView& run, const std::vector<std::uint32_t>& steps) {
  std::vector<double> lengths;
  for (std::size_t i = steps.size() > 33 ? steps.size() - 33 : 0; i + 1 < steps.size(); ++i)
    if (const auto range = run.step_range(Obtained::measured, steps[i]))
      lengths.push_back(static_cast<double>(range->length()) * 1e-9);
  if (lengths.empty()) return 0;
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2), lengths.end());
  return lengths[lengths.size() / 2];
}

}  // namespace

QStringList pending_titles() {
  return {tr("op · step"), tr("group"), tr("missing"), tr("in it"), tr("left it"), tr("first arrived at")};
}

QStringList lane_titles() {
  return {tr("rank"),  tr("lane"), tr("group"), tr("last finished op · step"), tr("current op · step"),
          tr("since"), tr("why")};
}

HangPicture hang_picture_of(const StoreView& run, const RunContext* context) {
  HangPicture picture;
  const auto steps = run.steps(Obtained::measured);
  const TimeRange extent = run.extent(Obtained::measured);
  picture.ran = !steps.empty();
  picture.origin_ns = extent.begin_ns;
  picture.last_event_ns = extent.end_ns;
  picture.lost = run.dropped_count();
  const std::vector<End> ends = run.ends();
  for (const End& end : ends) {
    picture.over = picture.over || end.rank < 0 || !end.ok;
    picture.failed = picture.failed || !end.ok;
  }
  if (!picture.ran) return picture;
  picture.last_step = steps.back();
  picture.step_seconds = median_step(run, steps);
  if (context == nullptr) return picture;
  const auto looked_at = std::max(least_steps, static_cast<std::uint32_t>(steps_apart(context->programs)) + 2);
  const std::uint32_t first = std::max(steps.front(), steps.back() + 1 - std::min(steps.back() + 1, looked_at));
  std::vector<Span> spans;
  for (const std::uint32_t step : steps) {
    if (step < first) continue;
    const auto some = run.step_spans(Obtained::measured, step);
    spans.insert(spans.end(), some.begin(), some.end());
  }
  const std::int64_t planned = run.hello() != nullptr ? run.hello()->steps : 0;
  picture.still = where_ranks_are(*context->linked, spans, first, planned, ends);
  picture.sentence = QString::fromStdString(sentence_of(picture.still, ends));
  for (const PendingCommunication& communication : picture.still.pending)
    picture.pending.push_back(row_of(communication, picture.still, picture.origin_ns));
  for (const LanePlace& lane : picture.still.lanes)
    picture.lanes.push_back(row_of(lane, picture.still, *context, picture.origin_ns));
  return picture;
}

double quiet_limit_s(const HangPicture& picture) { return std::max(2.0, 10 * picture.step_seconds); }

HangHeadline headline_of(const HangPicture& picture, bool live, double quiet_s) {
  HangHeadline headline;
  QString lost;
  if (picture.lost > 0)
    lost = tr(" %1 events are missing: a lane may be further than it seems.").arg(text::count(picture.lost));
  if (!picture.ran)
    return {tr("Nothing ran"), tr("A prediction cannot hang. The current op of each lane of a run is shown here."), Tone::dim};
  const bool quiet = live && !picture.over && quiet_s > quiet_limit_s(picture);
  if (quiet) {
    const QString step =
        picture.step_seconds > 0 ? tr(" (a step takes %1)").arg(text::seconds(picture.step_seconds)) : QString();
    headline = {tr("Hang: no op has ended for %1%2").arg(text::seconds(std::floor(quiet_s)), step), picture.sentence,
                Tone::bad};
    if (picture.sentence.isEmpty()) headline.words = tr("No rank is known to wait for another.");
  } else if (live && !picture.over) {
    headline = {tr("Running, step %1").arg(picture.last_step),
                tr("Below: the state of every lane at the newest events. Some waiting is normal "
                   "during a run."),
                Tone::good};
  } else if (picture.failed) {
    headline = {tr("The run failed in step %1").arg(picture.last_step), picture.sentence, Tone::bad};
  } else if (picture.still.lanes.empty()) {  // an imported run, or one whose plan cannot be read
    headline = {tr("The data ends in step %1").arg(picture.last_step),
                tr("The ranks' programs are not known, so it cannot be said whether one waits for another."), Tone::dim};
  } else if (picture.still.pending.empty()) {
    headline = {tr("No hang"), tr("Every lane has finished all steps, and no rank waits."), Tone::good};
  } else {
    headline = {picture.over ? tr("Stopped in step %1").arg(picture.last_step)
                             : tr("The data ends in step %1").arg(picture.last_step),
                tr("Below: the state of every lane at that time. Some waiting is normal during a run."), Tone::dim};
  }
  headline.words += lost;
  return headline;
}

}  // namespace rankscope::app
