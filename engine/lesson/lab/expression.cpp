#include "engine/lesson/lab/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

/// Replaces typographic operators by ASCII ones.
std::string plain_signs(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> signs[] = {
      {"×", "*"}, {"·", "*"}, {"÷", "/"}, {"−", "-"}, {"–", "-"}, {"√", "sqrt"}, {"\u00a0", " "}, {"\u202f", " "}};
  std::string result;
  while (!text.empty()) {
    std::string_view taken = text.substr(0, 1), as = taken;
    for (const auto& [sign, plain] : signs)
      if (text.substr(0, sign.size()) == sign) taken = sign, as = plain;
    result += as;
    text.remove_prefix(taken.size());
  }
  return result;
}

/// A recursive descent: sum of products of powers. `failed_` is the position of the first error, if any.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::optional<double> value() {
    const double result = sum();
    skip_blanks();
    if (!failed_ && at_ < text_.size()) fail();
    if (failed_ || !std::isfinite(result)) return std::nullopt;
    return result;
  }
  std::size_t stopped_at() const { return failed_.value_or(at_); }

 private:
  static constexpr int deepest = 50;  ///< nested brackets

  void fail() {
    if (!failed_) failed_ = at_;
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char sign) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }
  double sum() {
    double result = product();
    while (!failed_) {
      if (take('+'))
        result += product();
      else if (take('-'))
        result -= product();
      else
        break;
    }
    return result;
  }
  double product() {
    double result = signed_power();
    while (!failed_) {
      if (take('*'))
        result *= signed_power();
      else if (take('/'))
        result /= signed_power();
      else
        break;
    }
    return result;
  }
  double signed_power() {
    bool negative = false;
    while (take('-')) negative = !negative;
    double result = factor();
    if (!failed_ && take('^')) {
      if (++depth_ > deepest) return fail(), 0;
      result = std::pow(result, signed_power());
      --depth_;
    }
    return negative ? -result : result;
  }
  double factor() {
    skip_blanks();
    if (take('(')) return in_brackets();
    constexpr std::pair<std::string_view, double (*)(double)> functions[] = {
        {"sqrt", std::sqrt}, {"log2", std::log2}, {"exp", std::exp}, {"ln", std::log}};
    for (const auto& [name, function] : functions)
      if (text_.compare(at_, name.size(), name) == 0) {
        at_ += name.size();
        if (++depth_ > deepest) return fail(), 0;
        const double result = function(take('(') ? in_brackets() : factor());
        --depth_;
        return result;
      }
    return number();
  }
  double in_brackets() {
    if (++depth_ > deepest) return fail(), 0;
    const double result = sum();
    if (!take(')')) fail();
    --depth_;
    return result;
  }
  /// A comma is skipped if exactly three digits follow it.
  bool groups_digits(std::size_t comma) const {
    for (std::size_t i = 1; i <= 3; ++i)
      if (comma + i >= text_.size() || std::isdigit(static_cast<unsigned char>(text_[comma + i])) == 0) return false;
    return comma + 4 >= text_.size() || std::isdigit(static_cast<unsigned char>(text_[comma + 4])) == 0;
  }
  double number() {
    std::string digits;
    std::size_t end = at_;
    while (end < text_.size()) {
      const char letter = text_[end];
      const bool exponent_sign =
          (letter == '+' || letter == '-') && !digits.empty() && (digits.back() == 'e' || digits.back() == 'E');
      if (std::isdigit(static_cast<unsigned char>(letter)) != 0 || letter == '.' || exponent_sign ||
          ((letter == 'e' || letter == 'E') && !digits.empty()))
        digits += letter;
      else if (letter != ',' || digits.empty() || !groups_digits(end))
        break;
      ++end;
    }
    const auto value = number_in<double>(digits);
    if (!value) return fail(), 0;
    at_ = end;
    return *value;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<std::size_t> failed_;
};

}  // namespace

std::optional<double> evaluate(std::string_view text, std::string* why) {
  const std::string plain = plain_signs(text);
  Reader reader(plain);
  const auto value = reader.value();
  if (!value && why != nullptr) {
    const std::string rest = plain.substr(std::min(plain.size(), reader.stopped_at()));
    *why = rest.empty() ? fmt::format("'{}' is not a finite number", text)
           : rest == plain
               ? fmt::format("'{}' is not a number; write a number, or arithmetic such as 3/11 or 2 * 7/8", text)
           : rest[0] == ','
               ? fmt::format("'{}' has a comma that does not separate thousands; write a decimal point: 27.3", text)
               : fmt::format("'{}' is not arithmetic: '{}' cannot be read; write it as 3/11 or 2 * 7/8", text, rest);
  }
  return value;
}

}  // namespace rankscope
