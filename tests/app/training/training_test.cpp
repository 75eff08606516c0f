// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include "app/views/training/decimate.hpp"
#include "app/views/training/training_view.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

class EmptySource : public SnapshotSource {
 public:
  std::shared_ptr<const StoreView> view() const override { return view_; }

 private:
  std::shared_ptr<const StoreView> view_ = RunStore().view();
};

std::vector<CurvePoint> wave(int count) {
  std::vector<CurvePoint> points;
  for (int i = 0; i < count; ++i) points.push_back({static_cast<double>(i), std::sin(i * 0.01)});
  return points;
}

}  // namespace

TEST_CASE("A curve has at most two points a pixel, in order, and keeps its peaks") {
  auto points = wave(100'000);
  points[54'321].y = 9;
  points[77'777].y = -9;
  const auto kept = decimated(points, 300);
  CHECK(kept.size() <= 600);
  CHECK(std::is_sorted(kept.begin(), kept.end(), [](auto a, auto b) { return a.x < b.x; }));
  CHECK(std::count(kept.begin(), kept.end(), points[54'321]) == 1);
  CHECK(std::count(kept.begin(), kept.end(), points[77'777]) == 1);
}

TEST_CASE("A short curve stays as it is, without the points that are not known") {
  std::vector<CurvePoint> points{{0, 1}, {1, std::nan("")}, {2, 3}};
  CHECK(decimated(points, 100) == std::vector<CurvePoint>{{0, 1}, {2, 3}});
  CHECK(decimated({}, 100).empty());
}

TEST_CASE("The training view draws the report's steps") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  TrainingView view(state, source, figures);
  view.resize(900, 300);
  view.show();
  CHECK(view.points(TrainingView::loss).isEmpty());
  auto latest = std::make_shared<Figures>();
  latest->run.emplace();
  for (std::uint32_t i = 0; i < 3; ++i) latest->run->steps.push_back({i, 5.0 - i, 1.0 + i, 0.1, 1000.0});
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.points(TrainingView::loss).size() == 3; }));
  CHECK(view.points(TrainingView::loss).at(2) == QPointF(2, 3));
  CHECK(view.points(TrainingView::gradient_norm).at(1) == QPointF(1, 2));
  CHECK(view.points(TrainingView::tokens_per_s).at(0) == QPointF(0, 1000));
}
