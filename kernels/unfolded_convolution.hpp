// Convolutions as matrix products, in every set: x is unfolded into columns [pixels of y, kernel·kernel·in], each row
// the content of one window (im2col), and products with w [out, kernel·kernel·in] are the convolution and its
// gradients. A kernel of 1 with stride 1 needs no unfolding: x already has this form.
#pragma once
#include <algorithm>
#include <memory>

#include "kernels/matrix_product.hpp"
#include "kernels/windows.hpp"

namespace rankscope::kernels {

/// A set's own passes. Columns are of an integer number of samples.
struct UnfoldPasses {
  /// columns (of the spec's type); x. Places outside of x are zero.
  Prepared<View, View> (*unfold)(const ConvolutionSpec&, const Options&);
  /// dx; columns (fp32; fp64 of fp64): dx = or += for each element the sum of its places in the columns.
  Prepared<View, View> (*fold)(const ConvolutionSpec&, const Options&);
  std::int64_t column_bytes = 0;  ///< of columns at a time, but at least one sample's
};

/// The convolution ops of a set (kernels/kernel_set.hpp), based on its products.
template <MakeProduct* make_product, const UnfoldPasses& passes>
class UnfoldedConvolution {
 public:
  static Prepared<View, View, View> forward(const ConvolutionSpec& spec, const Options& options) {
    const Parts parts(spec);
    const auto product = make_product({.type = spec.type,
                                       .result = spec.type,
                                       .m = parts.rows,
                                       .n = spec.out,
                                       .k = parts.depth,
                                       .b_transposed = true},
                                      options);
    const auto unfold = parts.unfolds ? passes.unfold(parts.spec, options) : Prepared<View, View>{};
    return {parts.workspace(*product, unfold.workspace_bytes, spec.type),
            [=](View y, View x, View w, const Stream& stream) {
              for (std::int64_t part = 0; part < parts.count; ++part) {
                const View columns = parts.columns_of(x, part, unfold, stream);
                product->run({at(y, part * parts.rows * spec.out), columns.data, w.data, nullptr, nullptr, nullptr},
                             parts.behind_columns(stream, spec.type));
              }
            }};
  }

  static Prepared<View, View, View> input_gradient(const ConvolutionSpec& spec, const Options& options) {
    const Parts parts(spec);
    // A window's places are summed before rounding.
    const DType type = parts.unfolds ? accumulation_of(spec.type) : spec.type;
    const auto product = make_product({.type = spec.type,
                                       .result = type,
                                       .m = parts.rows,
                                       .n = parts.depth,
                                       .k = spec.out,
                                       .accumulate = spec.accumulate && !parts.unfolds},
                                      options);
    const auto fold = parts.unfolds ? passes.fold(parts.spec, options) : Prepared<View, View>{};
    return {parts.workspace(*product, fold.workspace_bytes, type), [=](View dx, View dy, View w, const Stream& stream) {
              for (std::int64_t part = 0; part < parts.count; ++part) {
                const View of_part{at(dx, part * parts.pixels * spec.in), spec.type, {parts.pixels, spec.in}};
                const View columns = parts.unfolds ? View{stream.workspace, type, {parts.rows, parts.depth}} : of_part;
                const Stream behind = parts.behind_columns(stream, type);
                product->run({columns.data, at(dy, part * parts.rows * spec.out), w.data, nullptr, nullptr, nullptr},
                             behind);
                if (parts.unfolds) fold.launch(of_part, columns, behind);
              }
            }};
  }

  static Prepared<View, View, View> weight_gradient(const ConvolutionSpec& spec, const Options& options) {
    const Parts parts(spec);
    ProductSpec of_part{.type = spec.type,
                        .result = accumulation_of(spec.type),
                        .m = spec.out,
                        .n = parts.depth,
                        .k = parts.rows,
                        .a_transposed = true,
                        .accumulate = spec.accumulate};
    const auto first = make_product(of_part, options);
    of_part.accumulate = true;
    const auto next = spec.accumulate || parts.count == 1 ? first : make_product(of_part, options);
    const auto unfold = parts.unfolds ? passes.unfold(parts.spec, options) : Prepared<View, View>{};
    return {std::max(parts.workspace(*first, unfold.workspace_bytes, spec.type),
                     parts.workspace(*next, unfold.workspace_bytes, spec.type)),
            [=](View dw, View dy, View x, const Stream& stream) {
              for (std::int64_t part = 0; part < parts.count; ++part) {
                const View columns = parts.columns_of(x, part, unfold, stream);
                (part == 0 ? first : next)
                    ->run({dw.data, at(dy, part * parts.rows * spec.out), columns.data, nullptr, nullptr, nullptr},
                          parts.behind_columns(stream, spec.type));
              }
            }};
  }

 private:
  static DType accumulation_of(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }
  static std::byte* at(const View& view, std::int64_t index) {
    return static_cast<std::byte*>(view.data) + index * bytes_of(view.type);
  }

  /// The samples, divided so that the columns of a part stay small.
  struct Parts {
    ConvolutionSpec spec;  ///< of one part
    bool unfolds = true;
    std::int64_t count = 1;
    std::int64_t rows = 0, depth = 0;  ///< of the columns of one part
    std::int64_t pixels = 0;           ///< of x in one part

    explicit Parts(const ConvolutionSpec& whole)
        : spec(whole), unfolds(whole.kernel > 1 || whole.stride > 1 || whole.padding > 0) {
      check_windows(whole, "convolution", false);
      const std::int64_t of_sample = spec.out_height() * spec.out_width();
      depth = std::int64_t{spec.kernel} * spec.kernel * spec.in;
      if (unfolds) {
        const std::int64_t bytes = of_sample * depth * bytes_of(spec.type);
        while (count < whole.samples &&
               (whole.samples % count != 0 || whole.samples / count * bytes > passes.column_bytes))
          ++count;
        spec.samples = whole.samples / count;
      }
      rows = spec.samples * of_sample;
      pixels = spec.samples * spec.height * spec.width;
    }

    /// The columns are first, then the scratch of products and passes, which run one after the other.
    std::int64_t column_bytes(DType type) const {
      return unfolds ? (rows * depth * bytes_of(type) + 255) / 256 * 256 : 0;
    }
    std::int64_t workspace(const MatrixProduct& product, std::int64_t of_pass, DType type) const {
      return column_bytes(type) + std::max(product.workspace_bytes(), of_pass);
    }
    Stream behind_columns(const Stream& stream, DType type) const {
      return {stream.workspace + column_bytes(type), stream.handle};
    }
    View columns_of(const View& x, std::int64_t part, const Prepared<View, View>& unfold, const Stream& stream) const {
      const View of_part{at(x, part * pixels * spec.in), spec.type, {pixels, spec.in}};
      if (!unfolds) return of_part;
      const View columns{stream.workspace, spec.type, {rows, depth}};
      unfold.launch(columns, of_part, behind_columns(stream, spec.type));
      return columns;
    }
  };
};

}  // namespace rankscope::kernels
