// Weighted sum of negative binomial log probabilities with its analytic gradient: one pass over the counts with plain doubles.
// Same function as portable/negative_binomial_sum.stan, which documents how cancellation is avoided as phi grows.
// The sum over j < y of log1p(j r) is computed once for all counts, from the largest down: the step between two neighbouring
// counts is multiplied by the total weight of the counts above it; a short step needs one logarithm.
//
// The signature must be the one that stanc declares, in the namespace of the model that includes this file. If a later stanc
// declares a different one, this does not compile and the portable form is used.
#include <stan/model/model_header.hpp>
#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

namespace negative_binomial_sum_detail {

const int NEAR = 16;  // from this count on, Stirling's series has full precision
const int STEP = 8;  // largest number of factors that share a logarithm: few enough that their product stays finite
const double HUGE_R = 1e20;  // above this value of r, each factor has its own logarithm
const double SMALL = 1.0 / 64;

struct Part {
  double value;
  double slope;  // its derivative with respect to r
};

inline Part operator+(const Part& a, const Part& b) { return {a.value + b.value, a.slope + b.slope}; }
inline Part operator-(const Part& a, const Part& b) { return {a.value - b.value, a.slope - b.slope}; }

// (log1p(z) - z) / z^2 for small z
inline double curvature(double z) {
  return -(1.0 / 2 - z * (1.0 / 3 - z * (1.0 / 4 - z * (1.0 / 5 - z * (1.0 / 6
         - z * (1.0 / 7 - z * (1.0 / 8 - z * (1.0 / 9 - z / 10))))))));
}

// Sum over j < y of log1p(j r), up to a constant that is the same for all y, by Stirling's series
inline Part rising(double y, double r) {
  const double z = y * r, u = 1 + z, scale = 1 / u, s = r * scale, s2 = s * s;
  const double l = std::log(u) + (z - (u - 1)) * scale;  // log1p(z)
  const double series = s * (1.0 / 12 - s2 * (1.0 / 360 - s2 * (1.0 / 1260 - s2 * (1.0 / 1680 - s2 / 1188))));
  const double series_slope = scale * scale
                              * (1.0 / 12 - s2 * (1.0 / 120 - s2 * (1.0 / 252 - s2 * (1.0 / 240 - s2 / 132))));
  const double curved = z < SMALL ? y * y * curvature(z) : (l - z) / (r * r);
  return {(y - 0.5) * l + r * curved + series, -curved - 0.5 * y * scale + series_slope};
}

// Sum over j from first up to last of log1p(j r), as the logarithm of a product
inline Part between(int first, int last, double r) {
  double product = 1, slope = 0;
  for (int j = first; j < last; ++j) {
    const double factor = 1 + j * r;
    product *= factor;
    slope += j / factor;
  }
  return {std::log(product), slope};
}

// Differences of the sum over j < y of log1p(j r) between counts, from the largest count down.
class Descent {
 public:
  Descent(double r) : r_(r) {}

  Part step(int lower, int upper) {
    const int step = r_ < HUGE_R ? STEP : 1;
    Part sum = {0, 0};
    if (upper - std::max(lower, NEAR) > step) {
      const int end = std::max(lower, NEAR);
      const Part here = at_ == upper ? rising_ : rising(upper, r_);
      rising_ = rising(end, r_);
      at_ = end;
      sum = here - rising_;
      upper = end;
    }
    for (; upper > lower; upper -= step) sum = sum + between(std::max(lower, upper - step), upper, r_);
    return sum;
  }

 private:
  double r_;
  int at_ = -1;  // count at which the series was last evaluated
  Part rising_ = {0, 0};
};

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

  Descent descent(r);
  for (size_t i = y.size(); i-- > 0;) {
    w_total += w(i);
    wy_total += w(i) * y[i];
    const Part part = descent.step(i > 0 ? y[i - 1] : 0, y[i]);
    total += w_total * part.value;
    by_r += w_total * part.slope;
    if (!shared) of_mean(i, w(i), w(i) * y[i]);
  }
  if (shared) of_mean(0, w_total, wy_total);
  return attach(total, log_mean, r__, by_eta, by_r);
}

}  // namespace MODEL_NAMESPACE
