// SPDX-License-Identifier: GPL-3.0-or-later
// The collectives view: the traffic of the chosen step as a table, the chosen collective played over its group, and
// the bytes between each pair of ranks. With little space, one of the three at a time.
#pragma once
#include <QTableView>

#include "app/session/figures.hpp"
#include "app/session/latest.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/traffic/exchange_player.hpp"
#include "app/views/traffic/heat_map.hpp"
#include "app/views/traffic/traffic_table.hpp"

class QButtonGroup;
class QComboBox;

namespace rankscope::app {

class TrafficView : public DataView {
  Q_OBJECT
 public:
  TrafficView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  void set_presentation(double scale) override;
  bool settled() const override { return latest_.settled(); }
  const TrafficModel& model() const { return model_; }
  QTableView* list() { return table_; }
  ExchangePlayer* player() { return player_; }
  HeatMap* heat_map() { return map_; }
  QComboBox* instances() { return instances_; }

 protected:
  void take_colours() override { model_.set_theme(colours().theme); }
  void arrange() override;
  /// One line per purpose and op.
  ViewTable rows_shown() const override;
  void paint(QPainter& painter) override;

 private:
  /// The played collective: an op of a rank in the chosen step.
  struct Chosen {
    std::int32_t rank = 0;
    OpId op;
    bool operator==(const Chosen&) const = default;
  };
  /// All shown data, made on a worker thread.
  struct Answer {
    std::vector<TrafficLine> lines;
    std::shared_ptr<const LinkMatrix> matrix;
    std::shared_ptr<const GroupExchange> exchange;
    std::vector<Chosen> instances;  ///< of the chosen line, each exchange once
    QStringList names;              ///< of the instances
    Chosen chosen;
  };
  static Answer answer(const Figures& figures, const StoreView& view, std::optional<TrafficKey> only,
                       std::optional<Chosen> requested);

  void refresh();
  void deliver(Answer answer);
  void take_selection();  ///< the shared one
  void take_row();
  void spread_columns();
  QRect table_area() const;

  FiguresModel& figures_;
  TrafficModel model_;
  QTableView* table_;
  ExchangePlayer* player_;
  HeatMap* map_;
  QComboBox* instances_;
  QWidget* switch_;  ///< the buttons that choose a part when there is little space
  QButtonGroup* parts_;
  std::optional<TrafficKey> only_;  ///< the chosen line
  std::optional<Chosen> wanted_;    ///< chosen by the user
  std::vector<Chosen> listed_;
  bool filling_ = false;
  Latest<Answer> latest_;
};

}  // namespace rankscope::app
