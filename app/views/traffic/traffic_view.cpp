// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_view.hpp"

#include <QButtonGroup>
#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>
#include <span>

#include "app/views/common/parts.hpp"
#include "app/views/common/rows_model.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/facts/facts.hpp"
#include "engine/op/contains.hpp"
#include "telemetry/store/names.hpp"

namespace rankscope::app {
namespace {

constexpr int row_height = 26, least_for_all = 420, switch_height = 34;
constexpr std::size_t most_instances = 400;

QString name_of_instance(const StoreView& view, int rank, OpId op) {
  const StepFacts* facts = op.is_observed() ? view.facts(rank) : nullptr;
  if (facts == nullptr) return TrafficView::tr("%1 from rank %2").arg(QString::fromStdString(to_token(op))).arg(rank);
  const QString name = QString::fromStdString(name_of_op(view, rank, op));
  const StepFacts::Group* group = facts->group_of(op);
  const int number = op.observed().occurrence + 1;
  if (group == nullptr) return TrafficView::tr("%1, number %2").arg(name).arg(number);
  return TrafficView::tr("%1, number %2, %3").arg(name).arg(number).arg(QString::fromStdString(group->name));
}

/// Those of that purpose and kind with several members, in the order of ops: of each one its members.
std::vector<std::span<const Node>> exchanges_of(const Step& linked, const TrafficKey& key) {
  std::vector<std::span<const Node>> found;
  for (ExchangeIndex exchange = 0; exchange < linked.members.size(); ++exchange) {
    const std::span<const Node> members = linked.members[exchange];
    const OpFields fields = linked.ids[members.front()].fields();
    if (members.size() > 1 && fields.kind == key.kind && fields.purpose == key.purpose) found.push_back(members);
  }
  return found;
}

}  // namespace

TrafficView::TrafficView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent),
      figures_(figures),
      table_(new QTableView(this)),
      player_(new ExchangePlayer(this)),
      map_(new HeatMap(this)),
      instances_(new QComboBox(this)),
      switch_(new QWidget(this)),
      parts_(new QButtonGroup(this)),
      latest_([this](Answer answer) { deliver(std::move(answer)); }) {
  table_->setModel(&model_);
  set_up_table(*table_, tr("Traffic of a step by purpose"));
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  instances_->setAccessibleName(tr("Op of this row to play"));
  instances_->setToolTip(tr("Op of this row to play"));

  auto* row = row_in(switch_, 0);
  const QString names[] = {tr("Table"), tr("Phases"), tr("Rank to rank")};
  for (int i = 0; i < 3; ++i) {
    auto* button = make_segment(names[i], switch_);
    button->setChecked(i == 0);
    button->setMinimumWidth(96);
    parts_->addButton(button, i);
    row->addWidget(button);
  }
  connect(parts_, &QButtonGroup::idClicked, this, &TrafficView::arrange);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TrafficView::take_row);
  connect(instances_, &QComboBox::activated, this, [this](int index) {
    if (index < 0 || index >= static_cast<int>(listed_.size())) return;
    wanted_ = listed_[static_cast<std::size_t>(index)];
    if (const StepAnalysis* step = figures_.latest()->shown_step())
      this->state().set_selected(SpanRef{wanted_->rank, step->step, wanted_->op, this->state().shown()});
    refresh();
  });
  connect(map_, &HeatMap::link_clicked, this, &DataView::link_pointed);
  connect(&figures, &FiguresModel::changed, this, &TrafficView::refresh);
  connect(&state, &SharedState::selected_changed, this, &TrafficView::take_selection);
  arrange();
  refresh();
}

void TrafficView::set_presentation(double scale) {
  DataView::set_presentation(scale);
  player_->set_smallest(presents() ? interface_pixels : 9);
  map_->set_smallest(presents() ? interface_pixels : 11);
}

ViewTable TrafficView::rows_shown() const {
  ViewTable table{{tr("purpose"), tr("op"), tr("members"), tr("algorithm"), tr("count per rank and step"),
                   tr("given per rank, bytes"), tr("sent per rank, bytes"), tr("predicted per rank, bytes"),
                   tr("waiting per rank, s"), tr("transfer per rank, s"), tr("bus bandwidth, bytes/s")},
                  {}};
  for (const TrafficLine& line : model_.lines())
    table.rows.push_back({text::utf8(name_of(line.purpose)), text::utf8(name_of(line.kind)),
                          line.members > 0 ? QString::number(line.members) : QString(), line.algorithm,
                          plain(line.count), plain(line.payload), plain(line.bytes), plain(line.predicted),
                          plain(line.waiting_s), plain(line.transfer_s), plain(line.bus_bandwidth)});
  return table;
}

TrafficView::Answer TrafficView::answer(const Figures& figures, const StoreView& view, std::optional<TrafficKey> only,
                                        std::optional<Chosen> requested) {
  Answer answer;
  answer.lines = traffic_lines(figures);
  const StepAnalysis* step = figures.shown_step();
  if (!figures.linked || step == nullptr) return answer;
  const Step& linked = *figures.linked;
  // What a library's collectives move between two ranks is not in a trace: without messages there is nothing to map.
  if (auto matrix = link_matrix(figures, only); matrix && (!matrix->traced || matrix->total() > 0))
    answer.matrix = std::make_shared<const LinkMatrix>(std::move(*matrix));

  // By default the collective that moves most bytes, unless messages move much more.
  if (!only) {
    const TrafficLine* largest = nullptr;
    const auto moved = [](const TrafficLine& line) {  // an imported run has no prediction
      return std::isnan(line.predicted) ? line.payload : line.predicted;
    };
    const auto take = [&](const TrafficLine& line) {
      if (largest == nullptr || moved(line) > moved(*largest)) largest = &line;
    };
    double most = 0;
    for (const TrafficLine& line : answer.lines)
      if (line.kind != OpKind::copy) most = std::fmax(most, moved(line));
    for (const TrafficLine& line : answer.lines)
      if (is_collective(line.kind) && !(moved(line) < 0.01 * most)) take(line);
    for (const TrafficLine& line : answer.lines)
      if (largest == nullptr && line.kind != OpKind::copy && !(moved(line) < most)) take(line);
    if (largest != nullptr) only = TrafficKey{largest->purpose, largest->kind};
  }
  if (!only) return answer;
  for (const auto& members : exchanges_of(linked, *only))
    if (answer.instances.size() < most_instances)
      answer.instances.push_back({static_cast<int>(linked.rank_of(members.front())), linked.ids[members.front()]});
  for (const Chosen& instance : answer.instances) answer.names << name_of_instance(view, instance.rank, instance.op);
  answer.chosen = answer.instances.empty() ? Chosen{} : answer.instances.front();
  if (requested) {
    answer.chosen = *requested;
    // The list names each exchange by its first member.
    const Node node = linked.find(requested->rank, requested->op);
    if (node != nobody && linked.exchange[node] != nobody) {
      const Node first = linked.members[linked.exchange[node]].front();
      const Chosen instance{static_cast<int>(linked.rank_of(first)), linked.ids[first]};
      if (contains(answer.instances, instance)) answer.chosen = instance;
    }
  }
  const Node chosen = linked.find(answer.chosen.rank, answer.chosen.op);
  std::vector<PhaseSpan> phases;
  if (figures.run && chosen != nobody && linked.exchange[chosen] != nobody)
    for (const Node member : linked.members[linked.exchange[chosen]]) {
      const auto some = view.phases(static_cast<int>(linked.rank_of(member)), step->step, linked.ids[member]);
      phases.insert(phases.end(), some.begin(), some.end());
    }
  if (auto exchange = exchange_of(linked, figures.algorithm(), figures.step_spans, phases, answer.chosen.rank,
                                  step->step, answer.chosen.op))
    answer.exchange = std::make_shared<const GroupExchange>(std::move(*exchange));
  return answer;
}

void TrafficView::refresh() {
  latest_.request([figures = figures_.latest(), view = source().view(), only = only_, requested = wanted_] {
    return answer(*figures, *view, only, requested);
  });
}

void TrafficView::deliver(Answer answer) {
  filling_ = true;
  model_.set_lines(std::move(answer.lines));
  const QString what = only_ ? model_.words_of(*only_) : tr("all traffic");
  map_->set_matrix(answer.matrix, what);
  const Report* report = figures_.latest()->shown();
  player_->set_folded(report != nullptr && report->folded);
  player_->set_exchange(answer.exchange);
  if (listed_ != answer.instances) {
    listed_ = std::move(answer.instances);
    instances_->clear();
    instances_->addItems(answer.names);
  }
  const auto at = std::find(listed_.begin(), listed_.end(), answer.chosen);
  if (at != listed_.end()) instances_->setCurrentIndex(static_cast<int>(at - listed_.begin()));
  filling_ = false;
  arrange();
  update();
}

void TrafficView::take_selection() {
  const auto selected = state().selected();
  if (!selected || !selected->op.valid() || !is_communication(selected->op.kind())) return;
  const OpFields fields = selected->op.fields();
  const OpKind kind = fields.kind == OpKind::receive ? OpKind::send : fields.kind;
  wanted_ = Chosen{selected->rank, selected->op};
  only_ = TrafficKey{fields.purpose, kind};
  filling_ = true;
  for (std::size_t i = 0; i < model_.lines().size(); ++i)
    if (model_.lines()[i].purpose == fields.purpose && model_.lines()[i].kind == kind)
      table_->selectRow(static_cast<int>(i));
  filling_ = false;
  refresh();
}

void TrafficView::take_row() {
  if (filling_) return;
  const int row = table_->currentIndex().row();
  if (row < 0 || row >= model_.rowCount()) return;
  const TrafficLine& line = model_.lines()[static_cast<std::size_t>(row)];
  only_ = TrafficKey{line.purpose, line.kind};
  wanted_.reset();
  refresh();
}

QRect TrafficView::table_area() const {
  const int header = table_->horizontalHeader()->sizeHint().height();
  const int requested = header + model_.rowCount() * row_height + 6, most = std::max(60, height() * 2 / 5);
  // If the table must scroll, it shows complete rows.
  const int whole = header + std::max(1, (most - header) / row_height) * row_height;
  return {cell_inset, 4, width() - view_margin - cell_inset, requested <= most ? std::max(requested, 60) : whole};
}

/// Columns are as wide as their content; number columns share the remaining width. Empty columns are hidden: a plan
/// that has not run has sent no bytes. If there is too little space, the algorithm, which the plan also names, is
/// hidden first.
void TrafficView::spread_columns() {
  QHeaderView& header = *table_->horizontalHeader();
  // The scroll bar of a table that is too high appears only when the event loop is idle again.
  const bool scrolls = header.sizeHint().height() + model_.rowCount() * row_height > table_->height();
  int left = table_->width() - (scrolls ? table_->verticalScrollBar()->sizeHint().width() : 0), numbers = 0;
  std::vector<int> widths;
  for (int column = 0; column < model_.columnCount(); ++column) {
    const bool has_values = model_.has_values(column);
    header.setSectionHidden(column, !has_values);
    if (!has_values) {
      widths.push_back(0);
      continue;
    }
    int width = header.sectionSizeHint(column);
    for (int row = 0; row < model_.rowCount(); ++row)
      width = std::max(width, table_->sizeHintForIndex(model_.index(row, column)).width());
    left -= widths.emplace_back(width);
    numbers += column >= TrafficModel::count;
  }
  for (const int column : {int{TrafficModel::algorithm}, int{TrafficModel::count}}) {
    if (left >= 0 || header.isSectionHidden(column)) continue;
    header.setSectionHidden(column, true);
    left += widths[static_cast<std::size_t>(column)];
    numbers -= column >= TrafficModel::count;
  }
  for (int column = 0; column < model_.columnCount(); ++column)
    if (!header.isSectionHidden(column))
      header.resizeSection(column, widths[static_cast<std::size_t>(column)] +
                                       (column >= TrafficModel::count ? std::max(0, left / numbers) : 0));
}

void TrafficView::arrange() {
  const bool there = model_.rowCount() > 0 && !veiled();
  const bool all = height() >= least_for_all;
  const int part = parts_->checkedId();
  switch_->setVisible(there && !all);
  const bool shows[] = {there && (all || part == 0), there && (all || part == 1), there && (all || part == 2)};
  table_->setVisible(shows[0]);
  player_->setVisible(shows[1]);
  map_->setVisible(shows[2]);
  instances_->setVisible(shows[1] && listed_.size() > 1);
  if (!there) return;
  switch_->setGeometry(view_margin, 4, switch_->sizeHint().width(), switch_height - 6);
  QRect rest = rect().adjusted(0, all ? 0 : switch_height, 0, 0);
  if (all) {
    table_->setGeometry(table_area());
    rest.setTop(table_area().bottom() + 8);
  } else {
    table_->setGeometry(rest.adjusted(cell_inset, 0, -view_margin, -4));
  }
  spread_columns();
  // Few members need little space: the map may be as wide as it is high.
  const bool few = player_->exchange() != nullptr && (player_->exchange()->opaque || player_->exchange()->size() == 2);
  const int map_width = map_->matrix() == nullptr
                            ? 0
                            : std::clamp(map_->width_for(rest.height()), 220, few ? width() * 3 / 5 : width() / 2);
  QRect left = all ? rest.adjusted(0, 0, -map_width, 0) : rest;
  map_->setGeometry(all ? QRect(left.right() + 1, rest.top(), map_width, rest.height()) : rest);
  const int list_width = std::min(instances_->sizeHint().width() + 16, 560);
  if (listed_.size() > 1) {
    instances_->setGeometry(all ? QRect(view_margin, left.top(), list_width, 28)
                                : QRect(width() - view_margin - list_width, 4, list_width, 28));
    if (all) left.setTop(left.top() + 32);
  }
  player_->set_named(listed_.size() > 1);
  if (all) left.setHeight(player_->height_for(left.width(), left.height()));
  player_->setGeometry(left);
}

void TrafficView::paint(QPainter& painter) {
  if (model_.rowCount() > 0) {
    if (height() < least_for_all) return;
    painter.setPen(color(colours().line));
    painter.drawLine(0, table_area().bottom() + 4, width(), table_area().bottom() + 4);
    return;
  }
  const Report* report = figures_.latest()->shown();
  if (report != nullptr && report->ranks == 1)
    paint_empty(painter, rect(), colours(), tr("A single rank sends nothing"),
                tr("Set data, tensor or pipeline above 1 in the plan to list the traffic between ranks here."));
  else
    paint_empty(
        painter, rect(), colours(), tr("No traffic to show yet"),
        tr("A run or a prediction fills this view: every transfer and collective of a step by purpose, its bytes, "
           "the predicted bytes, the time spent waiting and the time in which bytes moved."));
}

}  // namespace rankscope::app
