// Sum of clipped log-likelihood terms with its analytic gradient: one pass over the records on plain doubles, where
// the portable form keeps a differentiated number for every record. Same function as portable/clipped_sum.stan.
//
// The signature has to be the one that stanc declares, in the namespace of the model that includes it; where a later
// stanc declares another, this does not compile and the portable form is used.
#include <stan/model/model_header.hpp>
#include <ostream>
#include <vector>

namespace clipped_sum_detail {

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
  const auto& data = stan::math::to_ref(terms);
  const Eigen::MatrixXd values = stan::math::value_of(coefficients);
  const Eigen::Index n = data.rows();
  Eigen::VectorXd term(n);
  if (values.rows() == 1) {
    term.noalias() = data * values.row(0).transpose();
  } else {
    for (Eigen::Index i = 0; i < n; ++i) term(i) = data.row(i).dot(values.row(group[i] - 1));
  }
  const Eigen::VectorXd inside = (term.array().abs() < threshold).template cast<double>();
  const double total = term.array().max(-threshold).min(threshold).sum();
  Eigen::MatrixXd gradient = Eigen::MatrixXd::Zero(values.rows(), values.cols());
  if (values.rows() == 1) {
    gradient.row(0).noalias() = inside.transpose() * data;
  } else {
    for (Eigen::Index i = 0; i < n; ++i) gradient.row(group[i] - 1) += inside(i) * data.row(i);
  }
  return clipped_sum_detail::attach(total, coefficients, gradient);
}

}  // namespace MODEL_NAMESPACE
