// Sum of clipped log-likelihood terms with its analytic gradient: one pass over the records with plain doubles. The
// portable form stores an autodiff variable for every record. Same function as portable/clipped_sum.stan.
//
// The signature must be the one that stanc declares, in the namespace of the model that includes this file. If a later stanc
// declares a different one, this does not compile and the portable form is used.
#include <stan/model/model_header.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>
#include <vector>

namespace clipped_sum_detail {

const int COLUMNS = 3;  // number of columns of the programs' terms, for which there is a fast path
const int LANES = 64;  // records at a time, each with its own running sums; so many that the compiler keeps the loop

// The compiler may process several records at once, with wider instructions if the processor has them. The digits are the same:
// no operations are fused, and sums are taken in the same order.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define CLIPPED_SUM_WIDE __attribute__((target_clones("avx2", "default"), optimize("no-trapping-math")))
#else
#define CLIPPED_SUM_WIDE
#endif

// Sum over records (n, 3), stored column by column, that share their coefficients; adds its gradient to `gradient` (3)
CLIPPED_SUM_WIDE
double shared_sum(const double* data, long n, const double* coefficients, double threshold, double* gradient) {
  double sums[LANES] = {}, first[LANES] = {}, second[LANES] = {}, third[LANES] = {};
  const double a = coefficients[0], b = coefficients[1], c = coefficients[2];
  for (long start = 0; start < n; start += LANES) {
    const double *x = data + start, *y = x + n, *z = y + n;
    const int here = static_cast<int>(std::min<long>(LANES, n - start));
    for (int lane = 0; lane < here; ++lane) {
      const double term = a * x[lane] + b * y[lane] + c * z[lane];
      const double inside = std::fabs(term) < threshold ? 1.0 : 0.0;
      const double below = term > threshold ? threshold : term;
      sums[lane] += below < -threshold ? -threshold : below;
      first[lane] += inside * x[lane];
      second[lane] += inside * y[lane];
      third[lane] += inside * z[lane];
    }
  }
  double total = 0;
  for (int lane = 0; lane < LANES; ++lane) {
    total += sums[lane];
    gradient[0] += first[lane];
    gradient[1] += second[lane];
    gradient[2] += third[lane];
  }
  return total;
}

inline double attach(double total, const Eigen::MatrixXd&, const Eigen::MatrixXd&) {
  return total;
}

inline stan::math::var attach(double total, const Eigen::Matrix<stan::math::var, -1, -1>& coefficients,
                              const Eigen::MatrixXd& gradient) {
  std::vector<stan::math::var> operands(coefficients.data(), coefficients.data() + coefficients.size());
  std::vector<double> partials(gradient.data(), gradient.data() + gradient.size());
  return stan::math::precomputed_gradients(total, operands, partials);
}

}  // namespace clipped_sum_detail

namespace MODEL_NAMESPACE {

template <typename T0__, typename T2__, typename T3__>
stan::promote_args_t<stan::value_type_t<T0__>, stan::value_type_t<T2__>, T3__> clipped_sum(
    const T0__& terms, const std::vector<int>& group, const T2__& coefficients, const T3__& threshold, std::ostream*) {
  const Eigen::Ref<const Eigen::MatrixXd> data(terms);
  const Eigen::MatrixXd values = stan::math::value_of(coefficients);
  const Eigen::Index n = data.rows();
  Eigen::MatrixXd gradient = Eigen::MatrixXd::Zero(values.rows(), values.cols());
  double total = 0;
  if (values.rows() == 1 && values.cols() == clipped_sum_detail::COLUMNS) {
    total = clipped_sum_detail::shared_sum(data.data(), n, values.data(), threshold, gradient.data());
  } else {
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::Index row = group[i] - 1;
      const double term = data.row(i).dot(values.row(row));
      total += std::min(std::max(term, -threshold), threshold);
      if (std::fabs(term) < threshold) gradient.row(row) += data.row(i);
    }
  }
  return clipped_sum_detail::attach(total, coefficients, gradient);
}

}  // namespace MODEL_NAMESPACE
