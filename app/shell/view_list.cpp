// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/view_list.hpp"

#include "app/views/compare/compare_view.hpp"
#include "app/views/experiments/experiments_view.hpp"
#include "app/views/formats/formats_view.hpp"
#include "app/views/grid/grid_view.hpp"
#include "app/views/hang/hang_view.hpp"
#include "app/views/memory/memory_view.hpp"
#include "app/views/paths/paths_view.hpp"
#include "app/views/program/program_view.hpp"
#include "app/views/puzzle/puzzle_view.hpp"
#include "app/views/range/range_view.hpp"
#include "app/views/roofline/roofline_view.hpp"
#include "app/views/scaling/scaling_view.hpp"
#include "app/views/search/search_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "app/views/topology/topology_view.hpp"
#include "app/views/traffic/traffic_view.hpp"
#include "app/views/training/training_view.hpp"
#include "app/views/validation/validation_view.hpp"

namespace rankscope::app {
namespace {

template <class View>
DataView* of_figures(const ViewParts& p) {
  return new View(p.state, p.session, p.session.figures(), p.parent);
}
template <class View>
DataView* of_session(const ViewParts& p) {
  return new View(p.state, p.session, p.parent);
}

constexpr std::uint8_t no_subject = 0;

const ViewKind every_view[] = {
    // The time line names no bubble while its insights are veiled.
    {"timeline", QT_TR_NOOP("Time line"), no_subject,
     [](const ViewParts& p) -> DataView* {
       return new TimelineView(p.state, p.session, p.navigator, &p.session.insights(), p.parent);
     }},
    {"memory", QT_TR_NOOP("Memory"), shows::memory,
     [](const ViewParts& p) -> DataView* {
       return new MemoryView(p.state, p.session, &p.session.insights(), p.parent);
     }},
    {"range", QT_TR_NOOP("Range"), shows::shares, of_figures<RangeView>},
    {"collectives", QT_TR_NOOP("Collectives"), shows::traffic, of_figures<TrafficView>},
    {"training", QT_TR_NOOP("Training"), shows::training, of_figures<TrainingView>},
    {"scaling", QT_TR_NOOP("Scaling"), no_subject, of_session<ScalingView>},
    {"search", QT_TR_NOOP("Search"), no_subject, of_session<SearchView>},
    {"roofline", QT_TR_NOOP("Roofline"), no_subject, of_session<RooflineView>},
    {"paths", QT_TR_NOOP("Paths"), shows::paths,
     [](const ViewParts& p) -> DataView* { return new PathsView(p.state, p.session, p.session.paths(), p.parent); }},
    {"formats", QT_TR_NOOP("Formats"), no_subject, of_figures<FormatsView>},
    {"puzzle", QT_TR_NOOP("Puzzle"), no_subject, of_session<PuzzleView>},
    {"validation", QT_TR_NOOP("Validation"), no_subject, of_session<ValidationView>},
    {"grid", QT_TR_NOOP("Grid"), shows::shares | shows::memory, of_figures<GridView>},
    {"topology", QT_TR_NOOP("Topology"), shows::traffic, of_figures<TopologyView>},
    {"program", QT_TR_NOOP("Program"), shows::shares, of_session<ProgramView>},
    {"hang", QT_TR_NOOP("Hang"), no_subject, of_figures<HangView>},
    {"compare", QT_TR_NOOP("Compare"), shows::shares | shows::memory | shows::traffic | shows::training,
     [](const ViewParts& p) -> DataView* { return new CompareView(p.state, p.session, p.navigator, p.parent); }},
    {"experiments", QT_TR_NOOP("Experiments"), shows::shares | shows::memory, of_session<ExperimentsView>},
};

}  // namespace

std::span<const ViewKind> view_kinds() { return every_view; }

}  // namespace rankscope::app
