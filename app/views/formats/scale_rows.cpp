// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/formats/scale_rows.hpp"

#include "app/views/common/text.hpp"
#include "engine/lesson/formats/scales.hpp"

namespace rankscope::app {
namespace {

constexpr double much = 0.01;  ///< threshold of a bad value

QString name_of_scaling(Scaling scaling) {
  switch (scaling) {
    case Scaling::none: return text::tr("no scale");
    case Scaling::one: return text::tr("one for all");
    case Scaling::per_tensor: return text::tr("one per tensor");
    case Scaling::per_block: return text::tr("one per %1 numbers").arg(block_elements);
  }
  return {};
}

}  // namespace

QStringList scale_titles() {
  return {text::tr("format"),        text::tr("scale"),         text::tr("become zero"), text::tr("beyond"),
          text::tr("largest error"), text::tr("in the tensor"), text::tr("scales kept")};
}

std::vector<std::vector<Cell>> scale_rows() {
  const std::vector<StatedTensor> tensors = stated_tensors();
  std::vector<std::vector<Cell>> rows;
  for (const NumberFormat format :
       {NumberFormat::bf16, NumberFormat::fp16, NumberFormat::e5m2, NumberFormat::e4m3, NumberFormat::int8})
    for (const Scaling scaling : every_scaling) {
      const ScaleLoss loss = loss_of(format, scaling, tensors);
      const bool first = scaling == Scaling::none;
      const StatedTensor& worst = tensors[loss.worst];
      rows.push_back(
          {{text::utf8(facts_of(format).name), first ? Tone::text : Tone::dim, {}},
           {name_of_scaling(scaling), Tone::text, {}},
           {text::share(loss.zeroed), loss.zeroed > much ? Tone::bad : Tone::text,
            text::tr("Of all numbers that are not zero")},
           {text::share(loss.beyond), loss.beyond > 0 ? Tone::bad : Tone::text, {}},
           {text::share(loss.error), Tone::text,
            text::tr("Length of the error over the tensor's length, of the tensor in which that is largest")},
           {text::utf8(worst.name), Tone::dim, text::utf8(worst.words)},
           {text::count(loss.scales), Tone::dim, {}}});
    }
  return rows;
}

QString scale_words() {
  QStringList words;
  for (const StatedTensor& tensor : stated_tensors())
    words << text::tr("%1 (%2)").arg(text::utf8(tensor.name), text::utf8(tensor.words));
  return text::tr("Not from a run: four tensors of %1 numbers, drawn by a formula: %2.")
      .arg(text::count(stated_elements), words.join(QStringLiteral("; ")));
}

}  // namespace rankscope::app
