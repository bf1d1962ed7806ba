// Log probability of small noisy counts with its analytic gradient, computed with plain doubles. Same function as
// portable/small_counts.stan, which documents it.
//
// The signature must be the one that stanc declares, in the namespace of the model that includes this file. If a later stanc
// declares a different one, this does not compile and the portable form is used.
#include <stan/model/model_header.hpp>
#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

namespace small_counts_detail {

inline double attach(double total, const Eigen::VectorXd&, const Eigen::VectorXd&) { return total; }

inline stan::math::var attach(double total, const Eigen::Matrix<stan::math::var, -1, 1>& expected,
                              const Eigen::VectorXd& gradient) {
  std::vector<stan::math::var> operands(expected.data(), expected.data() + expected.size());
  std::vector<double> partials(gradient.data(), gradient.data() + gradient.size());
  return stan::math::precomputed_gradients(total, operands, partials);
}

}  // namespace small_counts_detail

namespace MODEL_NAMESPACE {

template <typename T0__, typename T1__>
stan::promote_args_t<stan::value_type_t<T0__>, stan::value_type_t<T1__>> small_counts(const T0__& expected,
                                                                                     const T1__& polynomial, std::ostream*) {
  const Eigen::Matrix<stan::value_type_t<T0__>, -1, 1> operands = expected;
  const Eigen::ArrayXd at = stan::math::value_of(operands).array();
  const Eigen::ArrayXXd coefficients = Eigen::MatrixXd(polynomial).array();
  const Eigen::Index degree = coefficients.cols() - 1;
  Eigen::ArrayXd value = coefficients.col(degree), slope = Eigen::ArrayXd::Zero(at.size());
  for (Eigen::Index j = degree - 1; j >= 0; --j) {
    slope = slope * at + value;
    value = value * at + coefficients.col(j);
  }
  if (value.isInf().any()) {
    return small_counts_detail::attach(-std::numeric_limits<double>::infinity(), operands, Eigen::VectorXd::Zero(at.size()));
  }
  return small_counts_detail::attach((value.log() - at).sum(), operands, (slope / value - 1).matrix());
}

}  // namespace MODEL_NAMESPACE
