// Evaluates arithmetic as people write it: "3/11", "2 · 7/8 · 3.18", "sqrt(2 * 60)", "1,627,392 × 4 / 2^20".
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// The value of numbers with + - * / ^ and brackets, of their typographic signs (× · ÷ −), and of sqrt, ln, log2 and
/// exp. Commas group three digits. nullopt for anything else, and `why` contains the position of the error.
std::optional<double> evaluate(std::string_view text, std::string* why = nullptr);

}  // namespace rankscope
