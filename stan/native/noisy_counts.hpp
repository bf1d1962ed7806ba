// Log probability of noisy counts with its analytic gradient, computed with plain doubles. Same function as
// portable/noisy_counts.stan, which documents it.
//
// The signature must be the one that stanc declares, in the namespace of the model that includes this file. If a later stanc
// declares a different one, this does not compile and the portable form is used.
#include <stan/model/model_header.hpp>
#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

namespace noisy_counts_detail {

// The compiler may process several cells at once, with wider instructions if the processor has them. The digits are the same: no
// operations are fused.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define NOISY_COUNTS_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define NOISY_COUNTS_WIDE
#endif

// Values and slopes of polynomials (cells, degree + 1), stored column by column, at a point each
NOISY_COUNTS_WIDE
void polynomials(const double* coefficients, long cells, long degree, const double* at, double* value, double* slope) {
  for (long i = 0; i < cells; ++i) {
    value[i] = coefficients[degree * cells + i];
    slope[i] = 0;
  }
  for (long j = degree - 1; j >= 0; --j) {
    const double* coefficient = coefficients + j * cells;
#pragma GCC ivdep
    for (long i = 0; i < cells; ++i) {
      slope[i] = slope[i] * at[i] + value[i];
      value[i] = value[i] * at[i] + coefficient[i];
    }
  }
}

// Log probability of counts (n) with a small noisy count; adds its gradient to `gradient`
inline double small_counts(const Eigen::Ref<const Eigen::VectorXd>& expected, const std::vector<int>& cell,
                           const Eigen::Ref<const Eigen::MatrixXd>& coefficients, Eigen::VectorXd& gradient) {
  const Eigen::Index n = cell.size();
  Eigen::ArrayXd at(n), value(n), slope(n);
  for (Eigen::Index i = 0; i < n; ++i) at[i] = expected[cell[i] - 1];
  polynomials(coefficients.data(), n, coefficients.cols() - 1, at.data(), value.data(), slope.data());
  double total = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (std::isinf(value[i])) return -std::numeric_limits<double>::infinity();
    total += std::log(value[i]) - at[i];
    gradient[cell[i] - 1] += slope[i] / value[i] - 1;
  }
  return total;
}

// Log probability of the other counts; adds its gradient to `gradient`
inline double large_counts(const Eigen::Ref<const Eigen::VectorXd>& expected, const Eigen::Ref<const Eigen::VectorXd>& noisy,
                           double noise_variance, const std::vector<int>& cell, Eigen::VectorXd& gradient) {
  double total = 0;
  for (const int place : cell) {
    const double variance = expected[place - 1] + noise_variance;
    const double off = (noisy[place - 1] - expected[place - 1]) / variance;
    total -= 0.5 * (off * off * variance + std::log(variance));
    gradient[place - 1] += off + 0.5 * (off * off - 1 / variance);
  }
  return total;
}

inline double attach(double total, const Eigen::VectorXd&, const Eigen::VectorXd&) { return total; }

inline stan::math::var attach(double total, const Eigen::Matrix<stan::math::var, -1, 1>& expected,
                              const Eigen::VectorXd& gradient) {
  std::vector<stan::math::var> operands(expected.data(), expected.data() + expected.size());
  std::vector<double> partials(gradient.data(), gradient.data() + gradient.size());
  return stan::math::precomputed_gradients(total, operands, partials);
}

}  // namespace noisy_counts_detail

namespace MODEL_NAMESPACE {

template <typename T0__, typename T1__, typename T5__>
stan::promote_args_t<stan::value_type_t<T0__>, stan::value_type_t<T1__>, stan::value_type_t<T5__>> noisy_counts(
    const T0__& expected, const T1__& noisy, const double& noise_variance, const std::vector<int>& large_cell,
    const std::vector<int>& small_cell, const T5__& polynomial, std::ostream*) {
  namespace detail = noisy_counts_detail;
  const Eigen::Matrix<stan::value_type_t<T0__>, -1, 1>& operands = expected;
  const Eigen::VectorXd values = stan::math::value_of(operands);
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(values.size());
  double total = detail::small_counts(values, small_cell, polynomial, gradient);
  total += detail::large_counts(values, noisy, noise_variance, large_cell, gradient);
  return detail::attach(total, operands, gradient);
}

}  // namespace MODEL_NAMESPACE
