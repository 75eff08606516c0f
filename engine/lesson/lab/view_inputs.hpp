// What a lesson's link or evidence can set in a view, besides step, rank and op: the number in the view of formats, the
// rules of a puzzle, the published table of the view of validation.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Pages of the view of number formats: one number, gradients of a run, and what scales save.
inline constexpr std::string_view formats_pages[] = {"number", "gradients", "scales"};

/// The keys of that view; empty if it has none.
std::vector<std::string_view> inputs_of(std::string_view view);
/// Why the view does not accept this value for that key; empty: it does.
std::string fault_of_input(std::string_view view, std::string_view key, std::string_view value);

}  // namespace rankscope
