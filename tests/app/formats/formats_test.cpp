// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/formats/formats_view.hpp"

#include <QTest>
#include <cmath>

#include "app/views/formats/scale_rows.hpp"
#include "engine/explain/analyse/magnitudes.hpp"
#include "engine/lesson/formats/scales.hpp"
#include "kernels/tensor/magnitude.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/sources.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

struct ShownFormats {
  QApplication& program = application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  FormatsView view{state, source, figures};

  explicit ShownFormats(QSize size = {1100, 620}) {
    view.resize(size);
    view.show();
  }
  /// A column of the saved table, by its title.
  QString cell(NumberFormat format, const QString& title) {
    const ViewTable table = view.table();
    const auto column = table.titles.indexOf(title);
    REQUIRE(column >= 0);
    for (const QStringList& row : table.rows)
      if (row[0].toStdString() == facts_of(format).name) return row[column];
    FAIL("no such format");
    return {};
  }
  double value(NumberFormat format) { return cell(format, "value").toDouble(); }
  bool contains(const QString& words) {
    for (const PaintedText& text : painted_texts(view))
      if (text.words.contains(words)) return true;
    return false;
  }
  void click(NumberFormat format, int bit) {
    QTest::mouseClick(&view.rows(), Qt::LeftButton, {}, view.rows().box_of(format, bit).center().toPoint());
  }
};

/// Steps 0 and 3 have counts: gradients about 2^-12, then about 2^-26.
std::shared_ptr<const Figures> counted() {
  const auto counts = [](int middle) {
    auto bins = std::make_shared<std::vector<std::int64_t>>(magnitude_bins);
    (*bins)[zero_bin] = 10;
    for (int e = -2; e <= 2; ++e)
      (*bins)[static_cast<std::size_t>(bin_of_exponent(middle + e))] = 100 - 20 * std::abs(e);
    return bins;
  };
  auto figures = std::make_shared<Figures>();
  figures->run.emplace();
  for (std::uint32_t step = 0; step < 5; ++step) {
    StepRow row;
    row.step = step;
    if (step == 0) row.magnitudes = counts(-12);
    if (step == 3) row.magnitudes = counts(-26);
    figures->run->steps.push_back(row);
  }
  return figures;
}

}  // namespace

TEST_CASE("A typed number is rounded to every format, and an update that is too small is lost") {
  ShownFormats shown;
  CHECK(shown.value(NumberFormat::fp16) == 1.0009765625);
  CHECK(shown.value(NumberFormat::bf16) == 1);
  CHECK(shown.value(NumberFormat::e4m3) == 1);
  CHECK(shown.cell(NumberFormat::bf16, "update lost") == "yes");
  CHECK(shown.cell(NumberFormat::fp16, "update lost") == "no");
  CHECK(shown.cell(NumberFormat::fp16, "bits") == "0011110000000001");
  shown.view.update_field()->setText("1e-4");
  CHECK(shown.cell(NumberFormat::fp16, "update lost") == "yes");
  CHECK(shown.cell(NumberFormat::fp32, "update lost") == "no");
  shown.view.value_field()->setText("70000");
  CHECK(shown.cell(NumberFormat::fp16, "outcome") == "overflow");
  CHECK(shown.cell(NumberFormat::e4m3, "outcome") == "overflow");
  CHECK(shown.cell(NumberFormat::bf16, "outcome") == "rounded");
  shown.view.value_field()->setText("2^-24");
  CHECK(shown.cell(NumberFormat::fp16, "outcome") == "subnormal");
  CHECK(shown.cell(NumberFormat::e4m3, "outcome") == "underflow");
  CHECK(shown.contains("underflow"));
}

TEST_CASE("Invalid input is reported, and the rows keep the last number") {
  ShownFormats shown;
  shown.view.value_field()->setText("0.5");
  for (const char* wrong : {"", "abc", "0x", "0x1234567890", "fp8:0x1", "bf16:1", "bf16:0x1ffff", "1/0"}) {
    INFO(wrong);
    shown.view.value_field()->setText(wrong);
    CHECK_FALSE(shown.view.fault().isEmpty());
    CHECK(shown.value(NumberFormat::fp16) == 0.5);
  }
  CHECK(shown.contains("is not a finite number"));
  shown.view.value_field()->setText("0x40490fdb");
  CHECK(shown.view.fault().isEmpty());
  CHECK(shown.value(NumberFormat::fp32) == static_cast<double>(3.14159274101257324f));
}

TEST_CASE("A click on a bit flips it, and the number follows in every format") {
  ShownFormats shown;
  shown.view.value_field()->setText("1");
  shown.click(NumberFormat::bf16, 0);
  CHECK(shown.view.value_field()->text() == "bf16:0x3f81");
  CHECK(shown.value(NumberFormat::bf16) == 1.0078125);
  CHECK(shown.value(NumberFormat::fp16) == 1.0078125);
  CHECK(shown.value(NumberFormat::e5m2) == 1);
  shown.click(NumberFormat::bf16, 15);
  CHECK(shown.value(NumberFormat::fp32) == -1.0078125);
  // All eight exponent bits set: infinity or NaN, and E4M3's only NaN.
  shown.view.value_field()->setText("fp16:0x7c00");
  CHECK(shown.cell(NumberFormat::fp16, "bits") == "0111110000000000");
  CHECK(shown.cell(NumberFormat::e4m3, "bits") == "01111111");
  CHECK(shown.contains("∞"));
  shown.view.value_field()->setText("448");
  shown.click(NumberFormat::e4m3, 0);
  CHECK(shown.view.value_field()->text() == "E4M3:0x7f");
  CHECK(shown.contains("NaN"));
}

TEST_CASE("Arrow keys choose a bit, and Space flips it") {
  ShownFormats shown;
  shown.view.value_field()->setText("1");
  FormatRows& rows = shown.view.rows();
  for (int i = 0; i < 3; ++i) QTest::keyClick(&rows, Qt::Key_Down);  // fp16
  QTest::keyClick(&rows, Qt::Key_End);
  QTest::keyClick(&rows, Qt::Key_Space);
  CHECK(shown.view.value_field()->text() == "fp16:0x3c01");
  QTest::keyClick(&rows, Qt::Key_Left);
  QTest::keyClick(&rows, Qt::Key_Return);
  CHECK(shown.view.value_field()->text() == "fp16:0x3c03");
  QTest::keyClick(&rows, Qt::Key_Home);
  QTest::keyClick(&rows, Qt::Key_Space);
  CHECK(shown.value(NumberFormat::fp16) == Approx(-1.0029296875));
}

TEST_CASE("int8 is a whole number times its scale") {
  ShownFormats shown;
  shown.view.value_field()->setText("0.304");
  CHECK(shown.value(NumberFormat::int8) == Approx(0.3));
  shown.view.int8_scale()->setValue(0.001);
  CHECK(shown.cell(NumberFormat::int8, "outcome") == "overflow");
  CHECK(shown.value(NumberFormat::int8) == Approx(0.127));
  shown.view.value_field()->setText("int8:0xff");
  CHECK(shown.value(NumberFormat::int8) == Approx(-0.001));
  CHECK(shown.value(NumberFormat::fp32) == Approx(-0.001));
}

TEST_CASE("Each bit belongs to sign, exponent or mantissa") {
  const auto counts = [](NumberFormat format) {
    std::array<int, 3> of{};
    for (int bit = 0; bit < facts_of(format).bits(); ++bit) ++of[static_cast<std::size_t>(field_of(format, bit))];
    return of;
  };
  CHECK(counts(NumberFormat::fp32) == std::array{1, 8, 23});
  CHECK(counts(NumberFormat::tf32) == std::array{1, 8, 10});
  CHECK(counts(NumberFormat::bf16) == std::array{1, 8, 7});
  CHECK(counts(NumberFormat::fp16) == std::array{1, 5, 10});
  CHECK(counts(NumberFormat::e4m3) == std::array{1, 4, 3});
  CHECK(counts(NumberFormat::e5m2) == std::array{1, 5, 2});
  CHECK(counts(NumberFormat::int8) == std::array{1, 0, 7});
}

TEST_CASE("A lesson's link types a number, an update, and turns the page") {
  ShownFormats shown;
  shown.view.show_inputs({{"value", "2^-15"}, {"update", "2^-30"}});
  CHECK(shown.view.page() == FormatsView::Page::number);
  CHECK(shown.view.number().value() == 0x1p-15);
  CHECK(shown.view.number().update == 0x1p-30);
  shown.view.show_inputs({{"page", "scales"}});
  CHECK(shown.view.page() == FormatsView::Page::scales);
  CHECK(shown.view.number().value() == 0x1p-15);
}

TEST_CASE("Without counted gradients the page says what would fill it; with them it shows their shares") {
  ShownFormats shown;
  shown.view.show_page(FormatsView::Page::gradients);
  CHECK(shown.contains("No gradients are counted"));
  CHECK(shown.contains("magnitudes_every"));
  CHECK(shown.view.table().rows.empty());
  shown.figures.set(counted());
  CHECK(shown.contains("Gradients of step 3"));
  shown.state.set_step(1);
  CHECK(shown.contains("Gradients of step 0"));
  shown.state.set_step(3);
  const auto& fits = shown.view.ranges().fits();
  REQUIRE(fits.size() == every_number_format.size());
  const FormatShares fp16 = fp16_shares(*magnitudes_at(*counted(), 3).counts);
  const FormatFit& fit = fits[static_cast<std::size_t>(NumberFormat::fp16)];
  CHECK(fit.shares.below == fp16.below);
  CHECK(fit.shares.below == Approx(320.0 / 390));  // 60 + 80 + 100 + 80 of them are below 2^-24
}

TEST_CASE("A scale of 2^k moves the gradients into the range, and each format's largest leaves nothing beyond") {
  ShownFormats shown;
  shown.figures.set(counted());
  shown.view.show_page(FormatsView::Page::gradients);
  const auto fit = [&](NumberFormat format) { return shown.view.ranges().fits()[static_cast<std::size_t>(format)]; };
  CHECK(fit(NumberFormat::fp16).shares.below > 0.5);
  shown.view.power()->setValue(12);
  CHECK(fit(NumberFormat::fp16).shares.below == 0);
  CHECK(fit(NumberFormat::e4m3).shares.below > 0.5);
  shown.view.each_its_own()->setChecked(true);
  for (const NumberFormat format : every_number_format) {
    INFO(facts_of(format).name);
    CHECK(fit(format).shift_known);
    CHECK(fit(format).shares.beyond + fit(format).shares.edge == 0);
    CHECK(fit(format).shares.below == 0);
  }
  CHECK(fit(NumberFormat::fp16).shift == 15 - -24);
  CHECK(fit(NumberFormat::e4m3).shift == 7 - -24);  // E4M3's last power of two is not complete
}

TEST_CASE("The page of scales uses example tensors and says so") {
  ShownFormats shown;
  shown.view.show_page(FormatsView::Page::scales);
  CHECK(shown.contains("Not from a run"));
  const auto& rows = shown.view.scales().rows();
  REQUIRE(rows.size() == 5 * every_scaling.size());
  const ScaleLoss loss = loss_of(NumberFormat::int8, Scaling::per_tensor, stated_tensors());
  const auto& row = rows[4 * every_scaling.size() + 2];
  CHECK(row[0].words == "int8");
  CHECK(row[2].words == QString::number(100 * loss.zeroed, 'f', 1) + QStringLiteral("\u00A0%"));
  CHECK(row[6].words == "4");
}
