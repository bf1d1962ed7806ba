// Probabilities of a table of an outcome by bins of a normal predictor, with their analytic derivatives with respect to five
// numbers, computed with plain doubles. The portable form stores an autodiff variable for every point, node and bin. Same function
// as portable/outcome_table.stan, which documents it.
//
// The signature must be the one that stanc declares, in the namespace of the model that includes this file. If a later stanc
// declares a different one, this does not compile and the portable form is used.
#include <stan/model/model_header.hpp>
#include <cmath>
#include <ostream>
#include <vector>

namespace outcome_table_detail {

const int GIVEN = 5;  // at_zero, slope, spread, x_mean, x_sd

// Normal probabilities of bins, and their derivatives by the mean and the standard deviation. The end bins are open.
//
// The distribution function is the density times a ratio of polynomials (Hart 1968, as printed by West 2005), with an absolute
// error below 1e-15, in a fraction of the time of erfc.
class NormalBins {
 public:
  Eigen::ArrayXd inside, by_mean, by_sd;

  explicit NormalBins(const Eigen::VectorXd& edges)
      : edges_(edges), below_(edges.size() + 2), density_(edges.size() + 2), scaled_(edges.size() + 2) {
    below_.setZero();
    density_.setZero();
    scaled_.setZero();
    below_[edges.size() + 1] = 1;
  }

  void at(double mean, double sd) {
    const Eigen::Index inner = edges_.size();
    z_ = ((edges_ - mean) * (1 / sd)).max(-LARGEST).min(LARGEST);
    a_ = z_.abs();
    exp_ = (-0.5 * a_ * a_).exp();
    tail_ = exp_
            * ((((((0.0352624965998911 * a_ + 0.700383064443688) * a_ + 6.37396220353165) * a_ + 33.912866078383) * a_
                 + 112.079291497871) * a_ + 221.213596169931) * a_ + 220.206867912376)
            / (((((((0.0883883476483184 * a_ + 1.75566716318264) * a_ + 16.064177579207) * a_ + 86.7807322029461) * a_
                  + 296.564248779674) * a_ + 637.333633378831) * a_ + 793.826512519948) * a_ + 440.413735824752);
    if (!(std::isfinite(mean) && sd > 0)) tail_.setConstant(NAN);  // limiting z above may have hidden it
    for (Eigen::Index k = 0; k < inner; ++k) below_[k + 1] = z_[k] < 0 ? tail_[k] : 1 - tail_[k];
    density_.segment(1, inner) = 0.39894228040143267794 * exp_;
    scaled_.segment(1, inner) = z_ * density_.segment(1, inner);
    inside = below_.tail(inner + 1) - below_.head(inner + 1);
    by_mean = (density_.head(inner + 1) - density_.tail(inner + 1)) * (1 / sd);
    by_sd = (scaled_.head(inner + 1) - scaled_.tail(inner + 1)) * (1 / sd);
  }

 private:
  static constexpr double LARGEST = 40;  // standard deviations, where the density is 0
  const Eigen::ArrayXd edges_;
  Eigen::ArrayXd below_, density_, scaled_, z_, a_, exp_, tail_;
};

// Probabilities of bins of an outcome whose density or mass is summed at nodes, and their derivatives by the linear predictor and
// the spread. The log density is base + u at + v at_other + c, where u, v and c depend on the linear predictor and the spread.
class NodeBins {
  // Adjacent nodes in the same bin
  struct Run {
    Eigen::Index bin, first, nodes;
  };

 public:
  Eigen::ArrayXd inside, by_mean, by_sd;

  NodeBins(int kind, double spread, const Eigen::VectorXd& at, const Eigen::VectorXd& at_other, const Eigen::VectorXd& log_weight,
           const std::vector<int>& bin, Eigen::Index bins)
      : inside(bins), by_mean(bins), by_sd(bins), kind_(kind), spread_(spread), at_(at), other_(at_other), base_(log_weight),
        base_by_spread_(at.size()), sums_(bins, 4) {
    for (Eigen::Index j = 0; j < at.size(); ++j) {
      if (j == 0 || bin[j] != bin[j - 1]) runs_.push_back({bin[j] - 1, j, 0});
      ++runs_.back().nodes;
    }
    if (kind < 6) return;
    double sum = 0, slope = 0;
    for (Eigen::Index j = 0; j < at.size(); ++j) {
      sum += std::log1p(spread * at_other[j]);
      slope += at_other[j] / (1 + spread * at_other[j]);
      base_[j] += sum;
      base_by_spread_[j] = slope;
    }
  }

  void at(double eta, double) {
    set(eta);
    mass_ = (base_ + u_ * at_ + v_ * other_ + c_).exp();
    sums_.setZero();
    for (const Run& run : runs_) {
      const auto mass = mass_.segment(run.first, run.nodes);
      sums_(run.bin, 0) += mass.sum();
      sums_(run.bin, 1) += (mass * at_.segment(run.first, run.nodes)).sum();
      if (kind_ <= 4) sums_(run.bin, 2) += (mass * other_.segment(run.first, run.nodes)).sum();
      if (kind_ >= 6) sums_(run.bin, 3) += (mass * base_by_spread_.segment(run.first, run.nodes)).sum();
    }
    inside = sums_.col(0);
    by_mean = u_by_eta_ * sums_.col(1) + v_by_eta_ * sums_.col(2) + c_by_eta_ * sums_.col(0);
    by_sd = u_by_spread_ * sums_.col(1) + v_by_spread_ * sums_.col(2) + c_by_spread_ * sums_.col(0) + sums_.col(3);
    if (kind_ >= 5) {
      close(inside, 1);
      close(by_mean, 0);
      close(by_sd, 0);
      return;
    }
    inside += 1e-12;
    const double total = inside.sum();
    inside /= total;
    by_mean = (by_mean - inside * by_mean.sum()) / total;
    by_sd = (by_sd - inside * by_sd.sum()) / total;
  }

 private:
  // The open last bin has what the others leave of the total
  static void close(Eigen::ArrayXd& values, double total) {
    values[values.size() - 1] = total - values.head(values.size() - 1).sum();
  }

  void set(double eta) {
    using stan::math::digamma;
    using stan::math::lgamma;
    u_by_eta_ = v_ = v_by_eta_ = u_by_spread_ = v_by_spread_ = c_by_spread_ = 0;
    if (kind_ == 2 || kind_ == 3) {
      const double share = stan::math::inv_logit(eta), mean = 1e-9 + (1 - 2e-9) * share;
      const double change = spread_ * (1 - 2e-9) * share * (1 - share);
      u_ = spread_ * mean;
      v_ = spread_ * (1 - mean);
      c_ = lgamma(spread_) - lgamma(u_) - lgamma(v_);
      const double by_u = digamma(u_), by_v = digamma(v_);
      u_by_eta_ = change;
      v_by_eta_ = -change;
      c_by_eta_ = change * (by_v - by_u);
      u_by_spread_ = mean;
      v_by_spread_ = 1 - mean;
      c_by_spread_ = digamma(spread_) - mean * by_u - (1 - mean) * by_v;
    } else if (kind_ == 4) {
      const double rate = std::exp(-eta);
      u_ = spread_;
      v_ = -spread_ * rate;
      c_ = spread_ * std::log(spread_) - lgamma(spread_) - spread_ * eta;
      v_by_eta_ = spread_ * rate;
      c_by_eta_ = -spread_;
      u_by_spread_ = 1;
      v_by_spread_ = -rate;
      c_by_spread_ = std::log(spread_) + 1 - digamma(spread_) - eta;
    } else if (kind_ == 5) {
      u_ = eta;
      c_ = c_by_eta_ = -std::exp(eta);
      u_by_eta_ = 1;
    } else {
      const double odds = spread_ * std::exp(eta), share = odds / (1 + odds), excess = std::log1p(odds);
      u_ = eta - excess;
      c_ = -excess / spread_;
      u_by_eta_ = 1 / (1 + odds);
      c_by_eta_ = u_by_spread_ = -share / spread_;
      c_by_spread_ = (excess - share) / spread_ / spread_;
    }
  }

  const int kind_;
  const double spread_;
  const Eigen::ArrayXd at_, other_;
  Eigen::ArrayXd base_, base_by_spread_, mass_;
  std::vector<Run> runs_;
  Eigen::ArrayXXd sums_;  // (bins, 4) of the mass, and of the mass times at, at_other and base_by_spread
  double u_, v_, c_, u_by_eta_, v_by_eta_, c_by_eta_, u_by_spread_, v_by_spread_, c_by_spread_;
};

// Probabilities (rows, bins), column by column, and derivatives (rows * bins, 5) with respect to the given numbers
template <typename Bins>
void table(const double* given, Bins& outcome, const Eigen::VectorXd& x, const Eigen::VectorXd& log_weight,
           const std::vector<int>& first, const std::vector<int>& last, const Eigen::VectorXd& x_edges, Eigen::VectorXd& p,
           Eigen::MatrixXd& slopes) {
  const double at_zero = given[0], slope = given[1], spread = given[2], x_mean = given[3], x_sd = given[4];
  const Eigen::Index rows = first.size(), bins = p.size() / rows;
  NormalBins mass(x_edges);
  mass.at(x_mean, x_sd);
  Eigen::ArrayXXd sums(bins, 1 + GIVEN);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Eigen::Index from = first[r] - 1, points = last[r] - from;
    const Eigen::ArrayXd off = (x.segment(from, points).array() - x_mean) / x_sd;
    Eigen::ArrayXd weight = log_weight.segment(from, points).array() - 0.5 * off.square();
    weight = (weight - weight.maxCoeff()).exp();
    weight /= weight.sum();
    const Eigen::ArrayXd by_mean = off / x_sd, by_sd = off.square() / x_sd;  // derivatives of the log density
    const double mean_by_mean = (weight * by_mean).sum(), mean_by_sd = (weight * by_sd).sum();
    // sums over the points: the probability, and its derivatives by the linear predictor, the slope, spread, x_mean and x_sd
    sums.setZero();
    for (Eigen::Index i = 0; i < points; ++i) {
      outcome.at(at_zero + slope * x[from + i], spread);
      sums.col(0) += weight[i] * outcome.inside;
      sums.col(1) += weight[i] * outcome.by_mean;
      sums.col(2) += (weight[i] * x[from + i]) * outcome.by_mean;
      sums.col(3) += weight[i] * outcome.by_sd;
      sums.col(4) += (weight[i] * (by_mean[i] - mean_by_mean)) * outcome.inside;
      sums.col(5) += (weight[i] * (by_sd[i] - mean_by_sd)) * outcome.inside;
    }
    for (Eigen::Index k = 0; k < bins; ++k) {
      const Eigen::Index cell = k * rows + r;
      p[cell] = mass.inside[r] * sums(k, 0);
      for (int j = 0; j < GIVEN; ++j) slopes(cell, j) = mass.inside[r] * sums(k, 1 + j);
      slopes(cell, 3) += mass.by_mean[r] * sums(k, 0);
      slopes(cell, 4) += mass.by_sd[r] * sums(k, 0);
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

}  // namespace outcome_table_detail

namespace MODEL_NAMESPACE {

template <typename T1__, typename T2__, typename T3__, typename T4__, typename T5__, typename T6__, typename T7__,
          typename T10__, typename T11__, typename T12__, typename T13__, typename T14__>
Eigen::Matrix<
    stan::promote_args_t<T1__, T2__, T3__, T4__, T5__,
                         stan::promote_args_t<stan::value_type_t<T6__>, stan::value_type_t<T7__>, stan::value_type_t<T10__>,
                                              stan::value_type_t<T11__>, stan::value_type_t<T12__>,
                                              stan::promote_args_t<stan::value_type_t<T13__>, stan::value_type_t<T14__>>>>,
    -1, 1>
outcome_table(const int& kind, const T1__& at_zero, const T2__& slope, const T3__& spread, const T4__& x_mean, const T5__& x_sd,
              const T6__& x, const T7__& x_log_weight, const std::vector<int>& first, const std::vector<int>& last,
              const T10__& x_edges, const T11__& edges, const T12__& at, const T13__& at_other, const T14__& log_weight,
              const std::vector<int>& bin, std::ostream*) {
  namespace detail = outcome_table_detail;
  using stan::math::value_of;
  using Scalar = stan::promote_args_t<T1__, T2__, T3__, T4__, T5__>;
  const double given[]
      = {double(value_of(at_zero)), double(value_of(slope)), double(value_of(spread)), double(value_of(x_mean)),
         double(value_of(x_sd))};
  const Eigen::Index bins = edges.size() + 1, cells = bins * static_cast<Eigen::Index>(first.size());
  Eigen::VectorXd p(cells);
  Eigen::MatrixXd slopes(cells, detail::GIVEN);
  if (kind == 1) {
    detail::NormalBins outcome(edges);
    detail::table(given, outcome, x, x_log_weight, first, last, x_edges, p, slopes);
  } else {
    detail::NodeBins outcome(kind, given[2], at, at_other, log_weight, bin, bins);
    detail::table(given, outcome, x, x_log_weight, first, last, x_edges, p, slopes);
  }
  return detail::attach(static_cast<const Eigen::Matrix<Scalar, -1, 1>*>(nullptr), p, slopes, at_zero, slope, spread, x_mean, x_sd);
}

}  // namespace MODEL_NAMESPACE
