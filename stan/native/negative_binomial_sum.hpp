// Weighted sum of negative binomial log probabilities with its analytic gradient: one pass over the counts on plain doubles.
// Same function as portable/negative_binomial_sum.stan, which says how it is arranged so that nothing cancels as phi grows.
//
// The signature has to be the one that stanc declares, in the namespace of the model that includes it; where a later
// stanc declares another, this does not compile and the portable form is used.
#include <stan/model/model_header.hpp>
#include <cmath>
#include <ostream>
#include <vector>

namespace negative_binomial_sum_detail {

const int NEAR = 16;  // up to here the logarithms are summed one by one
const double SMALL = 1.0 / 64;

struct Part {
  double value;
  double slope;  // its derivative with respect to r
};

// (log1p(z) - z) / z^2 for small z
inline double curvature(double z) {
  return -(1.0 / 2 - z * (1.0 / 3 - z * (1.0 / 4 - z * (1.0 / 5 - z * (1.0 / 6
         - z * (1.0 / 7 - z * (1.0 / 8 - z * (1.0 / 9 - z / 10))))))));
}

// Of sum over j < y of log1p(j r), up to the same number for all y: Stirling's series
inline Part rising(double y, double r) {
  const double z = y * r, l = std::log1p(z), scale = 1 / (1 + z), s = r * scale, s2 = s * s;
  const double curved = z < SMALL ? curvature(z) : (l - z) / (z * z);
  const double series = s * (1.0 / 12 - s2 * (1.0 / 360 - s2 * (1.0 / 1260 - s2 * (1.0 / 1680 - s2 / 1188))));
  const double series_slope = scale * scale
                              * (1.0 / 12 - s2 * (1.0 / 120 - s2 * (1.0 / 252 - s2 * (1.0 / 240 - s2 / 132))));
  return {(y - 0.5) * l + y * z * curved + series, -y * y * curved - 0.5 * y * scale + series_slope};
}

inline double attach(double total, const Eigen::VectorXd&, double, const Eigen::VectorXd&, double) {
  return total;
}

inline stan::math::var attach(double total, const Eigen::Matrix<stan::math::var, -1, 1>& log_mean, const stan::math::var& r,
                              const Eigen::VectorXd& by_log_mean, double by_r) {
  std::vector<stan::math::var> operands(log_mean.data(), log_mean.data() + log_mean.size());
  std::vector<double> partials(by_log_mean.data(), by_log_mean.data() + by_log_mean.size());
  operands.push_back(r);
  partials.push_back(by_r);
  return stan::math::precomputed_gradients(total, operands, partials);
}

}  // namespace negative_binomial_sum_detail

namespace MODEL_NAMESPACE {

template <typename T1__, typename T2__, typename T3__>
stan::promote_args_t<stan::value_type_t<T1__>, stan::value_type_t<T2__>, T3__> negative_binomial_sum(
    const std::vector<int>& y, const T1__& weight, const T2__& log_mean, const T3__& r__, std::ostream*) {
  using namespace negative_binomial_sum_detail;
  const auto& w = stan::math::to_ref(weight);
  const Eigen::VectorXd eta = stan::math::value_of(log_mean);
  const double r = stan::math::value_of(r__), log_r = std::log(r);
  const bool shared = eta.size() == 1;
  double total = 0, by_r = 0, w_total = 0, wy_total = 0;
  Eigen::VectorXd by_eta = Eigen::VectorXd::Zero(eta.size());

  Part near[NEAR + 1] = {{0, 0}, {0, 0}};
  for (int j = 1; j < NEAR; ++j) {
    near[j + 1] = {near[j].value + std::log1p(j * r), near[j].slope + j / (1 + j * r)};
  }
  const Part last = rising(NEAR, r);

  // sum of w (y log mean - (y + 1 / r) log1p(mean r)) over counts with the same mean
  const auto of_mean = [&](Eigen::Index i, double weights, double counts) {
    const double m = std::exp(eta(i)), z = m * r;
    const double l = z < 1e300 ? std::log1p(z) : eta(i) + log_r;
    const double scale = 1 / (1 + z), scaled = m > 1 ? 1 / (1 / m + r) : m * scale;  // m / (1 + z)
    total += counts * (eta(i) - l);
    if (z < SMALL) {
      const double curved = curvature(z);
      total -= weights * m * (1 + z * curved);
      by_r += weights * m * (m * curved + scaled);
    } else {
      total -= weights * l / r;
      by_r += weights * (l / r - scaled) / r;
    }
    by_r -= counts * scaled;
    by_eta(i) = counts * scale - weights * scaled;
  };

  for (size_t i = 0; i < y.size(); ++i) {
    Part part = y[i] <= NEAR ? near[y[i]] : rising(y[i], r);
    if (y[i] > NEAR) part = {near[NEAR].value + part.value - last.value, near[NEAR].slope + part.slope - last.slope};
    total += w(i) * part.value;
    by_r += w(i) * part.slope;
    w_total += w(i);
    wy_total += w(i) * y[i];
    if (!shared) of_mean(i, w(i), w(i) * y[i]);
  }
  if (shared) of_mean(0, w_total, wy_total);
  return attach(total, log_mean, r__, by_eta, by_r);
}

}  // namespace MODEL_NAMESPACE
