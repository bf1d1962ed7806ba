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

using Numbers = Eigen::Ref<const Eigen::VectorXd>;
const int GIVEN = 5;  // at_zero, slope, spread, x_mean, x_sd
const double NEGLIGIBLE = 1e-20;  // share of a point in the probability of its bin

// Weights of a point in a bin of the predictor: in the sum of probabilities, and in the sums of their derivatives by the slope,
// x_mean and x_sd.
struct Weights {
  double share, times_x, by_x_mean, by_x_sd;
};

// The compiler may process several edges at once, with wider instructions if the processor has them. The digits are the same: no
// operations are fused, and sums are taken in the same order.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define OUTCOME_TABLE_WIDE __attribute__((target_clones("avx2", "default"), optimize("no-trapping-math")))
#else
#define OUTCOME_TABLE_WIDE
#endif

// Normal distribution functions and densities, weighted and added to the sums (n, 6), column by column.
//
// The distribution function is the density times a ratio of polynomials (Hart 1968, as printed by West 2005), with an absolute
// error below 1e-15, in a fraction of the time of erfc. `gauss` is exp(-z^2 / 2).
OUTCOME_TABLE_WIDE
void add_normal(const double* z, const double* gauss, long n, const Weights& weights, double* __restrict sums) {
  const double by_mean = -0.39894228040143267794 * weights.share, by_slope = -0.39894228040143267794 * weights.times_x;
#pragma GCC ivdep
  for (long k = 0; k < n; ++k) {
    const double a = std::fabs(z[k]), density = gauss[k];
    const double over
        = ((((((0.0352624965998911 * a + 0.700383064443688) * a + 6.37396220353165) * a + 33.912866078383) * a
             + 112.079291497871) * a + 221.213596169931) * a + 220.206867912376);
    const double under
        = (((((((0.0883883476483184 * a + 1.75566716318264) * a + 16.064177579207) * a + 86.7807322029461) * a
              + 296.564248779674) * a + 637.333633378831) * a + 793.826512519948) * a + 440.413735824752);
    const double tail = density * over / under, rest = 1 - tail, upto = z[k] < 0 ? tail : rest;
    sums[k] += weights.share * upto;
    sums[n + k] += by_mean * density;
    sums[2 * n + k] += by_slope * density;
    sums[3 * n + k] += by_mean * density * z[k];
    sums[4 * n + k] += weights.by_x_mean * upto;
    sums[5 * n + k] += weights.by_x_sd * upto;
  }
}

// Normal outcomes. The sums of a bin are differences of sums at its edges. The end bins are open.
class NormalBins {
 public:
  NormalBins(const Numbers& edges, double sd)
      : inner_(edges.size()), inverse_(sd > 0 ? 1 / sd : NAN), edges_(Eigen::ArrayXd::Zero(inner_ + inner_ % 2)),
        upto_(edges_.size(), 1 + GIVEN) {
    edges_.head(inner_) = edges.array();  // an even number, as exponentials are computed in pairs
  }

  void clear() {
    upto_.setZero();
    share_ = by_x_mean_ = by_x_sd_ = 0;
  }

  void add(double mean, const Weights& weights) {
    z_ = ((edges_ - mean) * inverse_).max(-LARGEST).min(LARGEST);
    if (!std::isfinite(mean * inverse_)) z_.setConstant(NAN);  // limiting z may have hidden it
    gauss_ = (-0.5 * z_ * z_).exp();
    add_normal(z_.data(), gauss_.data(), z_.size(), weights, upto_.data());
    share_ += weights.share;
    by_x_mean_ += weights.by_x_mean;
    by_x_sd_ += weights.by_x_sd;
  }

  void collect(Eigen::ArrayXXd& sums) {
    const double above[] = {share_, 0, 0, 0, by_x_mean_, by_x_sd_};
    upto_.middleCols(1, 3) *= inverse_;
    for (int j = 0; j <= GIVEN; ++j) {
      const double* const upto = upto_.col(j).data();
      double* const bin = sums.col(j).data();
      double below = 0;
      for (Eigen::Index k = 0; k < inner_; ++k) {
        bin[k] = upto[k] - below;
        below = upto[k];
      }
      bin[inner_] = above[j] - below;
    }
  }

 private:
  static constexpr double LARGEST = 40;  // standard deviations, where the density is 0
  const Eigen::Index inner_;
  const double inverse_;
  Eigen::ArrayXd edges_, z_, gauss_;
  Eigen::ArrayXXd upto_;  // sums at the inner edges
  double share_, by_x_mean_, by_x_sd_;
};

// Outcomes whose density or mass is summed at nodes. The log density is base + u at + v at_other + c, where u, v and c depend on
// the linear predictor and the spread.
class NodeBins {
  // Adjacent nodes in the same bin
  struct Run {
    Eigen::Index bin, first, nodes;
  };

 public:
  NodeBins(int kind, double spread, const Numbers& at, const Numbers& at_other, const Numbers& log_weight,
           const std::vector<int>& bin, Eigen::Index bins)
      : kind_(kind), spread_(spread), at_(at), other_(at_other), base_(log_weight), base_by_spread_(at.size()), sums_(bins, 4),
        total_(bins, 1 + GIVEN) {
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

  void clear() { total_.setZero(); }

  void add(double eta, const Weights& weights) {
    at(eta);
    total_.col(0) += weights.share * inside_;
    total_.col(1) += weights.share * by_eta_;
    total_.col(2) += weights.times_x * by_eta_;
    total_.col(3) += weights.share * by_spread_;
    total_.col(4) += weights.by_x_mean * inside_;
    total_.col(5) += weights.by_x_sd * inside_;
  }

  void collect(Eigen::ArrayXXd& sums) { sums = total_; }

 private:
  void at(double eta) {
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
    inside_ = sums_.col(0);
    by_eta_ = u_by_eta_ * sums_.col(1) + v_by_eta_ * sums_.col(2) + c_by_eta_ * sums_.col(0);
    by_spread_ = u_by_spread_ * sums_.col(1) + v_by_spread_ * sums_.col(2) + c_by_spread_ * sums_.col(0) + sums_.col(3);
    if (kind_ >= 5) {
      close(inside_, 1);
      close(by_eta_, 0);
      close(by_spread_, 0);
      return;
    }
    inside_ += 1e-12;
    const double total = inside_.sum();
    inside_ /= total;
    by_eta_ = (by_eta_ - inside_ * by_eta_.sum()) / total;
    by_spread_ = (by_spread_ - inside_ * by_spread_.sum()) / total;
  }

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
  Eigen::ArrayXd inside_, by_eta_, by_spread_;
  Eigen::ArrayXXd sums_;  // (bins, 4) of the mass, and of the mass times at, at_other and base_by_spread
  Eigen::ArrayXXd total_;
  double u_, v_, c_, u_by_eta_, v_by_eta_, c_by_eta_, u_by_spread_, v_by_spread_, c_by_spread_;
};

// Probabilities of the bins of the predictor, and their derivatives by its mean and standard deviation in columns 1 and 3
inline Eigen::ArrayXXd normal_bins(const Numbers& edges, double mean, double sd) {
  NormalBins bins(edges, sd);
  Eigen::ArrayXXd sums(edges.size() + 1, 1 + GIVEN);
  bins.clear();
  bins.add(mean, {1, 0, 0, 0});
  bins.collect(sums);
  return sums;
}

// Probabilities (rows, bins), column by column, and derivatives (rows * bins, 5) with respect to the given numbers
template <typename Bins>
void table(const double* given, Bins& outcome, const Numbers& x, const Numbers& log_weight, const std::vector<int>& first,
           const std::vector<int>& last, const Numbers& x_edges, Eigen::VectorXd& p, Eigen::MatrixXd& slopes) {
  const double at_zero = given[0], slope = given[1], x_mean = given[3], x_sd = given[4];
  const Eigen::Index rows = first.size(), bins = p.size() / rows;
  const Eigen::ArrayXXd mass = normal_bins(x_edges, x_mean, x_sd);
  const Eigen::ArrayXd off = (x.array() - x_mean) / x_sd;
  const Eigen::ArrayXd by_mean = off / x_sd, by_sd = off.square() / x_sd;  // derivatives of the log density
  Eigen::ArrayXd share = log_weight.array() - 0.5 * off.square();
  for (Eigen::Index r = 0; r < rows; ++r) {
    auto shares = share.segment(first[r] - 1, last[r] - first[r] + 1);
    shares -= shares.maxCoeff();
  }
  share = share.exp();
  Eigen::ArrayXXd sums(bins, 1 + GIVEN);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Eigen::Index from = first[r] - 1, points = last[r] - from;
    auto shares = share.segment(from, points);
    shares /= shares.sum();
    const double mean_by_mean = (shares * by_mean.segment(from, points)).sum();
    const double mean_by_sd = (shares * by_sd.segment(from, points)).sum();
    outcome.clear();
    for (Eigen::Index i = from; i < from + points; ++i) {
      if (share[i] < NEGLIGIBLE) continue;
      outcome.add(at_zero + slope * x[i],
                  {share[i], share[i] * x[i], share[i] * (by_mean[i] - mean_by_mean), share[i] * (by_sd[i] - mean_by_sd)});
    }
    outcome.collect(sums);
    for (Eigen::Index k = 0; k < bins; ++k) {
      const Eigen::Index cell = k * rows + r;
      p[cell] = mass(r, 0) * sums(k, 0);
      for (int j = 0; j < GIVEN; ++j) slopes(cell, j) = mass(r, 0) * sums(k, 1 + j);
      slopes(cell, 3) += mass(r, 1) * sums(k, 0);
      slopes(cell, 4) += mass(r, 3) * sums(k, 0);
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
    detail::NormalBins outcome(edges, given[2]);
    detail::table(given, outcome, x, x_log_weight, first, last, x_edges, p, slopes);
  } else {
    detail::NodeBins outcome(kind, given[2], at, at_other, log_weight, bin, bins);
    detail::table(given, outcome, x, x_log_weight, first, last, x_edges, p, slopes);
  }
  return detail::attach(static_cast<const Eigen::Matrix<Scalar, -1, 1>*>(nullptr), p, slopes, at_zero, slope, spread, x_mean, x_sd);
}

}  // namespace MODEL_NAMESPACE
