// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/gap_strip.hpp"

#include <algorithm>

#include "app/views/common/text.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

constexpr double most = 0.60, idle = 0.36, thin = 0.01;

/// Half of the step is compute, much of the rest is bubble, and four classes have very small shares.
StepAnalysis slivers() {
  StepAnalysis step;
  step.range = {0, 10'000'000};
  step.average[TimeClass::compute] = most;
  step.average[TimeClass::bubble] = idle;
  for (const TimeClass time : {TimeClass::pipeline, TimeClass::data, TimeClass::optimizer}) step.average[time] = thin;
  step.average[TimeClass::other] = thin;
  step.average.unknown = thin;
  step.average[TimeClass::zero] = 1e-5;  // less than a pixel
  return step;
}

bool says(const std::vector<PaintedText>& texts, const QString& words) {
  return std::any_of(texts.begin(), texts.end(), [&](const PaintedText& text) { return text.words == words; });
}

}  // namespace

TEST_CASE("Only pieces too narrow for their names are listed by colour under the bars") {
  application();
  FiguresModel model;
  auto figures = std::make_shared<Figures>();
  figures->step = slivers();
  figures->forecast = slivers();
  model.set(figures);
  GapStrip strip(model);
  for (const int width : {1200, 700}) {
    INFO(width);
    strip.resize(width, strip.sizeHint().height());
    const auto texts = painted_texts(strip);
    CHECK(says(texts, QStringLiteral("compute ") + text::percent(most)));
    CHECK(says(texts, QStringLiteral("bubble ") + text::percent(idle)));
    // In a narrow window with the names of the range view's columns.
    const bool wide = width > 1000;
    for (const QString& name : {wide ? QStringLiteral("exposed transfers") : QStringLiteral("pipeline"),
                                wide ? QStringLiteral("exposed all-reduce") : QStringLiteral("data"),
                                QStringLiteral("optimizer"), QStringLiteral("unknown")}) {
      INFO(name.toStdString());
      CHECK(says(texts, name));
    }
    CHECK_FALSE(says(texts, QStringLiteral("compute")));
    CHECK_FALSE(says(texts, QStringLiteral("bubble")));
    CHECK_FALSE(says(texts, QStringLiteral("exposed ZeRO communication")));
    CHECK_FALSE(says(texts, QStringLiteral("zero")));
    CHECK_FALSE(says(texts, QStringLiteral("other")));  // all the rest is unknown
  }
}

TEST_CASE("An open question hides pieces and their names") {
  application();
  FiguresModel model;
  auto figures = std::make_shared<Figures>();
  figures->step = slivers();
  model.set(figures);
  GapStrip strip(model);
  strip.resize(1200, strip.sizeHint().height());
  strip.set_veil(QStringLiteral("until the question is answered"));
  CHECK_FALSE(says(painted_texts(strip), QStringLiteral("optimizer")));
}
