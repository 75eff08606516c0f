// A residual network of bottleneck blocks (He, Zhang, Ren, Sun 2016, arXiv 1512.03385, table 1), with the stride in a
// block's 3 × 3 convolution, as in the version 1.5 that PyTorch's torchvision has. Images are NHWC. A batch norm uses
// the statistics of its own micro-batch, on whatever rank that is, as data-parallel training commonly does.
//
// Of n samples; H, W are the pixels that a block has, of c channels each; a block of m = width·2^stage channels has
// 4·m at its end, and halves H and W where a stage begins (but the first).
//
//   tensor                        shape
//   images                        [n, image, image, 3] i32
//   residual, output              [n, H, W, 4·m] (behind the pool [n, H, W, width])
//   convolved1 norm1              [n, H, W, m]; of the stem [n, image/2, image/2, width]
//   convolved2 norm2              [n, H', W', m]
//   convolved3 shortcut           [n, H', W', 4·m]
//   mean1 rstd1 mean2 … rstd_…    [channels], fp32 (fp64 in fp64 runs)
//   pooled_from                   as output, i32
//   pooled logits loss            [n, channels], [n, classes], f64 [1]
//
// clang-format off
//   segment       inputs                parameters                      outputs                                      kept
//   stem          images                conv1.weight                    convolved1                                   images
//   pool          convolved1            bn1.weight .bias                mean1 rstd1 norm1 pooled_from output         convolved1 mean1 rstd1 norm1 pooled_from
//   conv1         residual              conv1 [downsample.0]            convolved1 [shortcut]                        residual
//   conv2         convolved1            bn1 .w .b conv2                 mean1 rstd1 norm1 convolved2                 convolved1 mean1 rstd1 norm1
//   conv3         convolved2            bn2 .w .b conv3                 mean2 rstd2 norm2 convolved3                 convolved2 mean2 rstd2 norm2
//   shortcut_sum  convolved3 residual   bn3 .w .b                       mean3 rstd3 output                           convolved3 mean3 rstd3 output
//     or          convolved3 shortcut   bn3 .w .b downsample.1 .w .b    mean3 rstd3 mean_ rstd_shortcut output       convolved3 shortcut mean3 … output
//   classifier    residual targets      fc.weight .bias                 pooled logits loss                           pooled logits
//
//   segment       gradient_inputs        gradient_outputs       halves: with the input gradient  with the weight gradient
//   stem          convolved1             –                                                       conv1.weight
//   pool          output                 convolved1             bn1.weight .bias
//   conv1         convolved1 [shortcut]  residual               –                                conv1 [downsample.0]
//   conv2         convolved2             convolved1             bn1.weight .bias                 conv2
//   conv3         convolved3             convolved2             bn2.weight .bias                 conv3
//   shortcut_sum  output                 convolved3 residual    bn3.weight .bias [downsample.1]
//                                        or convolved3 shortcut
//   classifier    –                      residual                                                fc.weight .bias
// clang-format on
//
// [] where the output has another size than the input: in the first block of each stage. Elsewhere the gradient of the
// block's input is begun by shortcut_sum and conv1 adds to it.
#pragma once
#include "engine/model/model.hpp"

namespace rankscope {

/// Internal to the room: adds parameters and segments to a model with spec, micro-batch and type. Throws
/// std::invalid_argument when there is no such network, or the scenario's plan has tensor ranks.
void make_resnet(Model& model, const Scenario& scenario);

/// Model::model_flops_per_sample: all convolutions and the classifier's product, three times each but the first
/// convolution, whose input has no gradient.
double resnet_flops_per_sample(const Model& model);

}  // namespace rankscope
