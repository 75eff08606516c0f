// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/roofline/roofline_model.hpp"

#include <algorithm>

#include "app/views/common/text.hpp"
#include "engine/explain/facts/facts.hpp"

namespace rankscope::app {
namespace {

using Mark = PlotSeries::Mark;

constexpr double dot = 9, slope_shown = 8;
constexpr OpKind model_kinds[] = {OpKind::forward, OpKind::backward, OpKind::input_gradient, OpKind::weight_gradient,
                                  OpKind::recompute};

/// Measured on the run's machine; 0: nothing.
Roof measured_roof_of(Session& session) {
  const Figures& figures = *session.figures().latest();
  const auto run = session.view();
  if (!figures.run || figures.run->obtained == Obtained::simulated || !run || run->hello() == nullptr) return {};
  return {run->hello()->peak_flops, run->hello()->memory_bandwidth};
}

std::vector<Span> predicted_spans(Session& session) {
  const std::shared_ptr<const StoreView> prediction = session.prediction();
  if (!prediction) return {};
  const auto steps = prediction->steps(Obtained::simulated);
  if (steps.empty()) return {};
  return prediction->step_spans(Obtained::simulated, steps[steady_step(steps.size())]);
}

QString bound_words(const RooflinePoint& point, const Roof& roof) {
  if (!roof.known()) return text::unknown();
  return point.intensity() < roof.ridge() ? text::tr("memory") : text::tr("arithmetic");
}

QString tip_of(const RooflinePoint& point, const Roof& roof, const QString& obtained) {
  QString words = QStringLiteral("%1, %2\n").arg(op_name(point), obtained) +
                  text::tr("%1 FLOP per byte, %2\n%3 ops of %4")
                      .arg(text::number(point.intensity()), text::flops(point.rate()))
                      .arg(point.ops)
                      .arg(text::seconds(point.seconds));
  if (roof.known()) {
    const double share = point.rate() / roof.at(point.intensity());
    words += text::tr("\n%1 of the roof; limited by %2").arg(text::percent(share), bound_words(point, roof));
    if (share > 1) words += text::tr("\nFaster than memory allows: its operands were in cache");
  }
  return words;
}

}  // namespace

bool has_measured_roof(Session& session) { return measured_roof_of(session).flops > 0; }

RooflinePicture roofline_of(Session& session, bool measured_roof) {
  RooflinePicture picture;
  const Figures& figures = *session.figures().latest();
  if (!figures.context) {
    const auto& predicted = session.predicted();
    picture.missing = predicted && !predicted->folded.empty()
                          ? text::tr(
                                "This plan is predicted chunk by chunk for identical ranks: it has no separate "
                                "times for kernels. Open a smaller plan, or run one.")
                      : session.scenario() ? text::tr("Predicting the plan…")
                                           : text::tr(
                                                 "Open a scenario or a recording to see the kernels of its "
                                                 "step under the roof of their machine.");
    return picture;
  }
  const StepProgram& step = figures.context->step;
  const ClusterSpec& cluster = step.scenario.cluster;
  const bool ran = figures.run.has_value() && figures.run->obtained != Obtained::simulated;
  if (ran) {
    picture.ran = roofline_points(step, figures.step_spans);
    picture.ran_name = run_column_name(figures);
    if (figures.step) picture.step = figures.step->step;
  }
  picture.predicted = roofline_points(step, predicted_spans(session));
  // A recorded prediction is kept as a run.
  if (picture.predicted.empty() && !ran) picture.predicted = roofline_points(step, figures.step_spans);
  const Roof measured = measured_roof_of(session);
  const bool of_run = measured_roof && measured.flops > 0;
  const bool slope_of_run = of_run && measured.bandwidth > 0;  // older recordings have none
  const QString precision = QString::fromStdString(step.scenario.plan.precision.name());
  const QString spec = QString::fromStdString(cluster.label());
  picture.roof = {of_run ? measured.flops : cluster.peak_flops(step.model.type),
                  slope_of_run ? measured.bandwidth : cluster.memory_bandwidth};
  picture.roof_words =
      text::tr("Roof: %1 (%2, %3), %4 (memory, %5)")
          .arg(text::flops(picture.roof.flops), precision,
               of_run ? text::tr("best product on %1").arg(QString::fromStdString(session.view()->hello()->host))
                      : text::tr("cluster '%1'").arg(spec),
               text::bandwidth(picture.roof.bandwidth),
               slope_of_run ? text::tr("large copies") : text::tr("cluster '%1'").arg(spec));
  if (picture.empty()) picture.missing = text::tr("No op of this step does any compute.");
  return picture;
}

QString op_name(const RooflinePoint& point) {
  const QString kind = text::words(name_of(point.kind));
  return point.segment == Segment::whole ? kind : kind + QLatin1Char(' ') + text::words(name_of(point.segment));
}

Plot roofline_plot(const RooflinePicture& picture, const Palette& colours) {
  Plot plot;
  plot.x = {true, {}, {}, {}, {}, text::tr("FLOP per byte")};
  const double unit = picture.roof.flops >= 1e12 ? 1e12 : 1e9;
  plot.y = {true, {},
            {},   [unit](double rate) { return QString::number(rate / unit, 'g', 4); },
            {},   unit > 1e9 ? text::tr("TFLOP/s of a device") : text::tr("GFLOP/s of a device")};
  double low = 1e300, high = 0;
  for (const auto* points : {&picture.ran, &picture.predicted})
    for (const RooflinePoint& point : *points) {
      low = std::min(low, point.intensity());
      high = std::max(high, point.intensity());
    }
  if (picture.roof.known() && high > 0) {
    const Roof& roof = picture.roof;
    low = std::min(low, roof.ridge() / slope_shown) / 1.5;  // so that the slope is visible
    high = std::max(high, roof.ridge()) * 2;
    plot.series.push_back(
        {text::tr("roof"),
         Mark::line,
         colours.text,
         {{low, roof.at(low), 0, 0, {}}, {roof.ridge(), roof.flops, 0, 0, {}}, {high, roof.flops, 0, 0, {}}}});
  }
  const bool ran = !picture.ran.empty();
  const QString simulated = text::tr("simulated");
  plot.title =
      ran ? text::tr("Kernels: dots %1, rings simulated").arg(picture.ran_name) : text::tr("Kernels, simulated");
  // Each kind has one entry in the legend.
  const auto add = [&](const std::vector<RooflinePoint>& points, Mark mark, const QString& obtained, bool named) {
    for (const OpKind kind : model_kinds) {
      PlotSeries series{named ? text::words(name_of(kind)) : QString(),
                        mark,
                        colours.of(class_of(OpId::of({kind, Purpose::none, 0, 0, 0, Segment::whole, 0}))),
                        {},
                        dot};
      for (const RooflinePoint& point : points)
        if (point.kind == kind)
          series.points.push_back({point.intensity(), point.rate(), 0, 0, tip_of(point, picture.roof, obtained)});
      if (!series.points.empty()) plot.series.push_back(std::move(series));
    }
  };
  add(picture.predicted, Mark::rings, simulated, !ran);
  add(picture.ran, Mark::dots, picture.ran_name, true);
  return plot;
}

QStringList roofline_titles() {
  return {text::tr("op"),    text::tr("FLOP/byte"),   text::tr("speed"), text::tr("of the roof"),
          text::tr("limit"), text::tr("time of one"), text::tr("ops")};
}

std::vector<std::vector<Cell>> roofline_rows(const RooflinePicture& picture) {
  std::vector<std::vector<Cell>> rows;
  for (const RooflinePoint& point : picture.shown())
    rows.push_back(
        {{op_name(point)},
         {text::number(point.intensity())},
         {text::flops(point.rate())},
         {picture.roof.known() ? text::percent(point.rate() / picture.roof.at(point.intensity())) : text::unknown()},
         {bound_words(point, picture.roof)},
         {text::seconds(point.seconds)},
         {text::count(point.ops)}});
  return rows;
}

ViewTable roofline_table(const RooflinePicture& picture) {
  ViewTable table{{text::tr("op"), text::tr("obtained"), text::tr("ops"), text::tr("FLOPs of one"),
                   text::tr("bytes of one"), text::tr("FLOP per byte"), text::tr("time of one, s"),
                   text::tr("speed, FLOP/s"), text::tr("roof there, FLOP/s")},
                  {}};
  const auto add = [&](const std::vector<RooflinePoint>& points, const QString& obtained) {
    for (const RooflinePoint& point : points)
      table.rows.push_back({op_name(point), obtained, plain(std::int64_t{point.ops}), plain(point.flops),
                            plain(point.bytes), plain(point.intensity()), plain(point.seconds), plain(point.rate()),
                            picture.roof.known() ? plain(picture.roof.at(point.intensity())) : QString()});
  };
  add(picture.ran, picture.ran_name);
  add(picture.predicted, text::tr("simulated"));
  return table;
}

}  // namespace rankscope::app
