// Base class of compiled programs, in place of Stan's `model_base_crtp`, which compiles the density 16 times: for numbers and for
// autodiff variables, in two kinds of vectors, with and without constants and Jacobians. Sampling needs it once, so programs compile
// in two thirds of the time. Draws are the same, bit for bit. Stan asks for a density with constants only to see whether it
// is finite, and for finite differences; it gets one without. Optimization, which needs a density without Jacobians, is an error.
#ifndef FORMALSYNTH_SAMPLED_MODEL
#define FORMALSYNTH_SAMPLED_MODEL
#include <stan/model/model_header.hpp>
#include <stan/version.hpp>
// other versions have other functions to override
#if STAN_MAJOR == 2 && STAN_MINOR == 27 && !defined(__clang__)
#include <stdexcept>

namespace stan {
namespace model {
template <typename M>
class sampled_model : public model_base {
  using Numbers = Eigen::VectorXd;
  using Variables = Eigen::Matrix<math::var, Eigen::Dynamic, 1>;
  using Whole = std::vector<int>;
  using Out = std::ostream*;

  mutable Variables variables_;

  const M& model() const { return *static_cast<const M*>(this); }

  math::var density(Variables& theta, Out out) const { return model().template log_prob<true, true>(theta, out); }

  double density(const Numbers& theta, Out out) const {
    math::nested_rev_autodiff nested;
    Variables variables = theta.cast<math::var>();
    return density(variables, out).val();
  }

  math::var density(const std::vector<math::var>& theta, Out out) const {
    // a constraint such as that of a simplex reads them again for the gradient, after this function has ended
    variables_ = Eigen::Map<const Variables>(theta.data(), theta.size());
    return density(variables_, out);
  }

  double density(const std::vector<double>& theta, Out out) const {
    const Numbers numbers = Eigen::Map<const Numbers>(theta.data(), theta.size());
    return density(numbers, out);
  }

  [[noreturn]] static void absent() {
    throw std::logic_error("this program was compiled for sampling: it has no density without Jacobians, so it cannot be optimized");
  }

 public:
  using model_base::model_base;

  double log_prob_jacobian(Numbers& theta, Out out) const override { return density(theta, out); }
  math::var log_prob_jacobian(Variables& theta, Out out) const override { return density(theta, out); }
  double log_prob_jacobian(std::vector<double>& theta, Whole&, Out out) const override { return density(theta, out); }
  math::var log_prob_jacobian(std::vector<math::var>& theta, Whole&, Out out) const override { return density(theta, out); }
  double log_prob_propto_jacobian(Numbers& theta, Out out) const override { return density(theta, out); }
  math::var log_prob_propto_jacobian(Variables& theta, Out out) const override { return density(theta, out); }
  double log_prob_propto_jacobian(std::vector<double>& theta, Whole&, Out out) const override { return density(theta, out); }
  math::var log_prob_propto_jacobian(std::vector<math::var>& theta, Whole&, Out out) const override { return density(theta, out); }

  double log_prob(Numbers&, Out) const override { absent(); }
  math::var log_prob(Variables&, Out) const override { absent(); }
  double log_prob(std::vector<double>&, Whole&, Out) const override { absent(); }
  math::var log_prob(std::vector<math::var>&, Whole&, Out) const override { absent(); }
  double log_prob_propto(Numbers&, Out) const override { absent(); }
  math::var log_prob_propto(Variables&, Out) const override { absent(); }
  double log_prob_propto(std::vector<double>&, Whole&, Out) const override { absent(); }
  math::var log_prob_propto(std::vector<math::var>&, Whole&, Out) const override { absent(); }

  void write_array(boost::ecuyer1988& generator, Numbers& theta, Numbers& values, bool transformed, bool generated,
                   Out out) const override {
    model().template write_array(generator, theta, values, transformed, generated, out);
  }
  void write_array(boost::ecuyer1988& generator, std::vector<double>& theta, Whole& whole, std::vector<double>& values,
                   bool transformed, bool generated, Out out) const override {
    model().template write_array(generator, theta, whole, values, transformed, generated, out);
  }
  void transform_inits(const io::var_context& context, Numbers& theta, Out out) const override {
    model().transform_inits(context, theta, out);
  }
};
}  // namespace model
}  // namespace stan
#define model_base_crtp sampled_model
#endif
#endif
