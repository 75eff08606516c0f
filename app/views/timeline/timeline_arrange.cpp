// SPDX-License-Identifier: GPL-3.0-or-later
// The arrangement of the time line's rows: grouped, opened, folded, pinned; and its table.
#include <QActionGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <algorithm>
#include <cmath>

#include "app/models/range_statistics.hpp"
#include "app/models/translated.hpp"
#include "app/views/common/text.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "telemetry/store/names.hpp"

namespace rankscope::app {
namespace {

constexpr double widest_labels = 170;
constexpr int member_indent = 12;
// More rows are not useful as a table: an export of the recording has all spans.
constexpr std::size_t most_table_rows = 1'000'000;

}  // namespace

void TimelineView::lay_out() {
  const int line = fonts_.text.font().pixelSize() + 5;
  const auto ranks = static_cast<std::int32_t>(lanes_.size());
  choice_.groups = rank_groups(grouping_, ranks, scene_.plan.get());
  choice_.groups_open = ranks <= most_single_ranks;
  double label_width = fonts_.title.width(text::tr("rank %1").arg(std::max(ranks, 1) - 1));
  for (const std::string& name : {translated("predicted"), translated("B receive")})
    label_width = std::max(label_width, fonts_.tiny.width(QString::fromStdString(name)));
  if (scene_.plan && ranks > 0)
    label_width = std::max(label_width, fonts_.small.width(QString::fromStdString(place_of(*scene_.plan, ranks - 1))));
  if (scene_.plan && scene_.plan->identical_ranks > 1)
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      label_width = std::max(label_width, fonts_.small.width(QString::fromStdString(folded_words(*scene_.plan, rank))));
  if (!choice_.groups.empty()) label_width += member_indent;
  for (const RankGroup& group : choice_.groups)
    label_width = std::max({label_width, fonts_.title.width(QStringLiteral("▸ ") + QString::fromStdString(group.name)),
                            fonts_.small.width(QString::fromStdString(size_words(group)))});
  const int labels = static_cast<int>(std::lround(std::min(label_width, widest_labels * line / 18.0))) + 14;
  scene_.layout = TimelineLayout::of(size(), line, labels, legend_line_);
  scene_.rows = std::make_shared<TimelineRows>(
      lay_out_rows(lanes_, with_prediction_, choice_, scene_.layout.plot.height(), line - 2));
  scroll_to(scene_.scroll);
  compose_frame();
  compose_overview();
  update();
}

// The legend has a line of its own if it does not fit into the header.
void TimelineView::place_legend() {
  constexpr double between = 31;  // a square, and the gaps around it and the name
  double width = fonts_.title.width(text::tr("Time line")) + 16;
  if (!scene_.summary.isEmpty()) width += fonts_.text.width(scene_.summary) + 24;
  for (const LegendEntry& entry : scene_.legend)
    width += fonts_.small.width(text::words(rankscope::name_of(entry.kind, entry.lane))) + between;
  const bool own_line = width > scene_.layout.header.width();
  if (own_line == legend_line_ || scene_.layout.header.isEmpty()) return;
  legend_line_ = own_line;
  lay_out();
}

void TimelineView::set_grouping(Grouping grouping) {
  if (grouping == grouping_) return;
  grouping_ = grouping;
  choice_.open_groups.clear();
  lay_out();
}

void TimelineView::next_grouping() {
  auto at = std::find(every_grouping.begin(), every_grouping.end(), grouping_);
  do {
    if (++at == every_grouping.end()) at = every_grouping.begin();
  } while (!can_group(*at, scene_.plan.get()));
  set_grouping(*at);
}

void TimelineView::set_pinned(std::int32_t rank, bool pinned) {
  if (pinned)
    choice_.pinned.insert(rank);
  else
    choice_.pinned.erase(rank);
  lay_out();
}

void TimelineView::toggle(const RankBand& band) {
  if (band.group >= 0)
    choice_.open_groups[scene_.rows->groups[static_cast<std::size_t>(band.group)].name] = !band.open;
  else
    choice_.open_ranks[band.rank] = !band.open;
  lay_out();
}

void TimelineView::reveal(std::int32_t rank) {
  if (scene_.rows->band_of(rank) == nullptr) {
    for (const RankGroup& group : scene_.rows->groups)
      if (group.contains(rank)) choice_.open_groups[group.name] = true;
    lay_out();
  }
  bring_on_screen(state().visible(), rank);
}

void TimelineView::open_all(bool open) {
  for (const RankGroup& group : scene_.rows->groups) choice_.open_groups[group.name] = open;
  for (std::size_t r = 0; r < lanes_.size() && scene_.rows->groups.empty(); ++r)
    choice_.open_ranks[static_cast<std::int32_t>(r)] = open;
  lay_out();
}

const RankBand* TimelineView::band_at(int y) const {
  const auto band = scene_.rows->band_at(scene_.rows->content_y(y - scene_.layout.plot.top(), scene_.scroll));
  return band ? &scene_.rows->bands[*band] : nullptr;
}

void TimelineView::fill_op_menu(QMenu& menu, const ShownBox& box) {
  select(box);
  const QString name = QString::fromStdString(name_of_op(*source().view(), box.lane.rank, box.box.op));
  menu.addSection(tr("%1 · rank %2").arg(name).arg(box.lane.rank));
  menu.addAction(tr("Copy its details"), this, [this] { QGuiApplication::clipboard()->setText(selected_text()); });
  menu.addAction(tr("Zoom to it"), this, [this] { navigator_.fit(); });
  menu.addAction(tr("Set range to it"), this, [this] { navigator_.selection_to_range(); });
  if (can_mark_)
    menu.addAction(tr("Mark it…"), this, [this, box] {
      emit new_mark_wanted(
          {{box.box.begin_ns, box.box.end_ns}, box.lane.obtained, box.box.step, box.lane.rank, box.box.first_op, {}});
    });
  for (const auto& [view, title] :
       {std::pair{"memory", tr("Show its rank's memory")}, std::pair{"program", tr("Show it in the program")},
        std::pair{"collectives", tr("Show its transfers")}})
    if (QLatin1String(view) != QLatin1String("collectives") || is_communication(box.box.op.fields().kind))
      menu.addAction(title, this, [this, view = QString::fromLatin1(view)] { emit view_wanted(view); });
  menu.addSeparator();
}

void TimelineView::fill_menu(QMenu& menu, QPoint at) {
  if (lanes_.empty()) return;
  if (const auto box = box_at(at); box && box->row != RowKind::ghost && box->box.op.valid()) fill_op_menu(menu, *box);
  fill_mark_menu(menu, at);
  if (const RankBand* band = band_at(at.y()); band != nullptr && at.y() >= scene_.layout.plot.top()) {
    const RankBand chosen = *band;
    if (chosen.group < 0) {
      const bool pinned = choice_.pinned.count(chosen.rank) > 0;
      menu.addAction(pinned ? tr("Unpin rank %1").arg(chosen.rank) : tr("Pin rank %1 to the top").arg(chosen.rank),
                     this, [this, chosen, pinned] { set_pinned(chosen.rank, !pinned); });
      menu.addAction(chosen.open ? tr("Fold rank %1").arg(chosen.rank) : tr("Open rank %1").arg(chosen.rank), this,
                     [this, chosen] { toggle(chosen); });
    } else {
      const QString name = QString::fromStdString(scene_.rows->groups[static_cast<std::size_t>(chosen.group)].name);
      menu.addAction(chosen.open ? tr("Close %1").arg(name) : tr("Open %1").arg(name), this,
                     [this, chosen] { toggle(chosen); });
    }
  }
  menu.addAction(tr("Expand all"), this, [this] { open_all(true); });
  menu.addAction(tr("Collapse all"), this, [this] { open_all(false); });
  if (!choice_.pinned.empty())
    menu.addAction(tr("Unpin all"), this, [this] {
      choice_.pinned.clear();
      lay_out();
    });
  menu.addSeparator();
  auto* ways = new QActionGroup(&menu);
  for (const Grouping grouping : every_grouping) {
    QAction* action = menu.addAction(QString::fromStdString(translated(words_of(grouping))), this,
                                     [this, grouping] { set_grouping(grouping); });
    action->setCheckable(true);
    action->setChecked(grouping == grouping_);
    action->setEnabled(can_group(grouping, scene_.plan.get()));
    ways->addAction(action);
  }
}

// The meaning of a group row's pixels at the pointer: the mean shares of its ranks there.
std::optional<HoverCard> TimelineView::group_card(QPoint at) const {
  const RankBand* band = scene_.layout.plot.contains(at) ? band_at(at.y()) : nullptr;
  if (band == nullptr || band->group < 0 || lanes_.empty()) return std::nullopt;
  const auto half = static_cast<std::int64_t>(std::ceil(2 * scene_.scale().ns_per_pixel()));
  const std::int64_t time = time_at(at.x() + 0.5);
  const RankGroup& group = scene_.rows->groups[static_cast<std::size_t>(band->group)];
  const auto statistics = statistics_of(*source().view(), state().shown(), {time - half, time + half},
                                        [&](std::int32_t rank) { return group.contains(rank); });
  HoverCard card{
      at, {group.name + " · " + size_words(group), {translated("average here: %1", summary_of(statistics))}}, {}};
  card.details.lines.push_back(translated("height of a colour: mean share of the ranks' time"));
  card.details.lines.push_back(band->open ? translated("click its name to collapse it")
                                          : translated("click its name to expand it"));
  return card;
}

ViewTable TimelineView::rows_shown() const {
  ViewTable table{{tr("rank"), tr("lane"), tr("step"), tr("op"), tr("obtained"), tr("begin, ns"), tr("moving from, ns"),
                   tr("end, ns")},
                  {}};
  const auto view = source().view();
  for (const LaneKey& lane : view->lanes()) {
    if (lane.obtained != state().shown()) continue;
    for (const Span& span : view->spans(lane, state().visible(), 0, most_table_rows - table.rows.size()))
      table.rows.push_back(
          {plain(std::int64_t{lane.rank}), QString::fromStdString(name_of_lane(*view, lane.rank, lane.lane)),
           plain(std::int64_t{span.step}), QString::fromStdString(name_of_op(*view, span.rank, span.op)),
           text::utf8(rankscope::name_of(lane.obtained)), plain(span.begin_ns), plain(span.active_ns),
           plain(span.end_ns)});
    if (table.rows.size() >= most_table_rows) break;
  }
  return table;
}

}  // namespace rankscope::app
