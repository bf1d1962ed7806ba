// Probabilities of a table of a normal outcome by bins of a normal predictor, with their analytic derivatives with respect to five
// numbers, computed with plain doubles. The portable form stores an autodiff variable for every point and bin. Same function as
// portable/normal_table.stan, which documents it.
//
// The signature must be the one that stanc declares, in the namespace of the model that includes this file. If a later stanc
// declares a different one, this does not compile and the portable form is used.
#include <stan/model/model_header.hpp>
#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

namespace normal_table_detail {

const int GIVEN = 5;  // at_zero, slope, own, x_mean, x_sd

// Standard normal distribution function and density at the edges of bins, in units of a standard deviation
struct Edges {
  Eigen::ArrayXd below, density, scaled;  // the distribution function, the density, and the density times the edge

  // The first edge is at minus infinity, the last one at infinity
  Edges(const Eigen::VectorXd& inner) : below(inner.size() + 2), density(inner.size() + 2), scaled(inner.size() + 2) {
    below.setZero();
    density.setZero();
    scaled.setZero();
    below[inner.size() + 1] = 1;
  }

  void at(const Eigen::VectorXd& inner, double mean, double sd) {
    for (Eigen::Index k = 0; k < inner.size(); ++k) {
      const double z = (inner[k] - mean) / sd;
      below[k + 1] = 0.5 * std::erfc(-z * 0.70710678118654752440);
      density[k + 1] = 0.39894228040143267794 * std::exp(-0.5 * z * z);
      scaled[k + 1] = std::fabs(z) < 40 ? z * density[k + 1] : 0;
    }
  }
};

// Differences of neighbouring values
inline Eigen::ArrayXd between(const Eigen::ArrayXd& ends) {
  return ends.tail(ends.size() - 1) - ends.head(ends.size() - 1);
}

// Probabilities (rows, bins), column by column, and derivatives (rows * bins, 5) with respect to the given numbers
inline void table(const double* given, const Eigen::VectorXd& x, const Eigen::VectorXd& log_weight, const std::vector<int>& first,
                  const std::vector<int>& last, const Eigen::VectorXd& x_edges, const Eigen::VectorXd& edges,
                  Eigen::VectorXd& p, Eigen::MatrixXd& slopes) {
  const double at_zero = given[0], slope = given[1], own = given[2], x_mean = given[3], x_sd = given[4];
  const Eigen::Index bins = edges.size() + 1, rows = first.size();
  Edges inner(edges), outer(x_edges);
  outer.at(x_edges, x_mean, x_sd);
  const Eigen::ArrayXd mass = between(outer.below);
  const Eigen::ArrayXd mass_by_mean = -between(outer.density) / x_sd, mass_by_sd = -between(outer.scaled) / x_sd;
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Eigen::Index from = first[r] - 1, points = last[r] - from;
    const Eigen::ArrayXd off = (x.segment(from, points).array() - x_mean) / x_sd;
    Eigen::ArrayXd weight = log_weight.segment(from, points).array() - 0.5 * off.square();
    weight = (weight - weight.maxCoeff()).exp();
    weight /= weight.sum();
    const Eigen::ArrayXd by_mean = off / x_sd, by_sd = off.square() / x_sd;  // derivatives of the log density
    const double mean_by_mean = (weight * by_mean).sum(), mean_by_sd = (weight * by_sd).sum();
    // sums over the points: the probability, and its derivatives by the linear predictor, the slope, own, x_mean and x_sd
    Eigen::ArrayXXd sums = Eigen::ArrayXXd::Zero(bins, 1 + GIVEN);
    for (Eigen::Index i = 0; i < points; ++i) {
      inner.at(edges, at_zero + slope * x[from + i], own);
      const Eigen::ArrayXd inside = between(inner.below), by_eta = between(inner.density) * (-weight[i] / own);
      sums.col(0) += weight[i] * inside;
      sums.col(1) += by_eta;
      sums.col(2) += x[from + i] * by_eta;
      sums.col(3) += between(inner.scaled) * (-weight[i] / own);
      sums.col(4) += (weight[i] * (by_mean[i] - mean_by_mean)) * inside;
      sums.col(5) += (weight[i] * (by_sd[i] - mean_by_sd)) * inside;
    }
    for (Eigen::Index k = 0; k < bins; ++k) {
      const Eigen::Index cell = k * rows + r;
      p[cell] = mass[r] * sums(k, 0);
      for (int j = 0; j < GIVEN; ++j) slopes(cell, j) = mass[r] * sums(k, 1 + j);
      slopes(cell, 3) += mass_by_mean[r] * sums(k, 0);
      slopes(cell, 4) += mass_by_sd[r] * sums(k, 0);
    }
  }
}

inline void add(const stan::math::var& given, double adjoint) { given.vi_->adj_ += adjoint; }
inline void add(double, double) {}

template <typename... Given>
Eigen::VectorXd attach(const Eigen::Matrix<double, -1, 1>*, const Eigen::VectorXd& p, const Eigen::MatrixXd&, const Given&...) {
  return p;
}

template <typename T0, typename T1, typename T2, typename T3, typename T4>
Eigen::Matrix<stan::math::var, -1, 1> attach(const Eigen::Matrix<stan::math::var, -1, 1>*, const Eigen::VectorXd& p,
                                             const Eigen::MatrixXd& slopes, const T0& a, const T1& b, const T2& c, const T3& d,
                                             const T4& e) {
  stan::arena_t<Eigen::Matrix<stan::math::var, -1, 1>> result = p;
  stan::arena_t<Eigen::MatrixXd> kept = slopes;
  stan::math::reverse_pass_callback([result, kept, a, b, c, d, e]() mutable {
    const Eigen::VectorXd of_cells = result.adj();  // copied first: a product would not read it through its pointers
    const Eigen::VectorXd adjoints = kept.transpose() * of_cells;
    add(a, adjoints[0]);
    add(b, adjoints[1]);
    add(c, adjoints[2]);
    add(d, adjoints[3]);
    add(e, adjoints[4]);
  });
  return result;
}

}  // namespace normal_table_detail

namespace MODEL_NAMESPACE {

template <typename T0__, typename T1__, typename T2__, typename T3__, typename T4__, typename T5__, typename T6__, typename T9__,
          typename T10__>
Eigen::Matrix<stan::promote_args_t<T0__, T1__, T2__, T3__, T4__,
                                   stan::promote_args_t<stan::value_type_t<T5__>, stan::value_type_t<T6__>,
                                                        stan::value_type_t<T9__>, stan::value_type_t<T10__>>>,
              -1, 1>
normal_table(const T0__& at_zero, const T1__& slope, const T2__& own, const T3__& x_mean, const T4__& x_sd, const T5__& x,
             const T6__& x_log_weight, const std::vector<int>& first, const std::vector<int>& last, const T9__& x_edges,
             const T10__& edges, std::ostream*) {
  using stan::math::value_of;
  using Scalar = stan::promote_args_t<T0__, T1__, T2__, T3__, T4__>;
  const double given[] = {value_of(at_zero), value_of(slope), value_of(own), value_of(x_mean), value_of(x_sd)};
  const Eigen::VectorXd inner = edges;
  const Eigen::Index cells = (inner.size() + 1) * static_cast<Eigen::Index>(first.size());
  Eigen::VectorXd p(cells);
  Eigen::MatrixXd slopes(cells, normal_table_detail::GIVEN);
  normal_table_detail::table(given, x, x_log_weight, first, last, x_edges, inner, p, slopes);
  return normal_table_detail::attach(static_cast<const Eigen::Matrix<Scalar, -1, 1>*>(nullptr), p, slopes, at_zero, slope, own,
                                     x_mean, x_sd);
}

}  // namespace MODEL_NAMESPACE
