// Posterior of a family's parameters given noisy tables of counts; it uses no records, only numbers that may be published.
//
// A table counts the records by bin of the outcome and bin of one predictor; without predictors there is one row. Cell counts
// are Poisson with mean total * probability, and the noise adds its own variance. Small noisy counts have the exact likelihood
// of both, a polynomial in the expected count; all others have a normal one. Several tables count the same records, so they have
// a normal likelihood with the covariance from a first fit. The number of records is unknown: `total` is a parameter. The end
// bins are open.
//
// Predictors are normal with unknown means, standard deviations and correlations, on a scale on which the declared bounds are
// -1 and 1. They are integrated within each bin by quadrature. Several predictors also have tables of their pairs. The outcome's
// probabilities are differences of distribution functions for the normal family, sums of the probability mass for counts, and a
// quadrature of the density otherwise: smooth in the parameters everywhere, unlike derivatives of the incomplete beta and gamma
// functions.
//
// kind: 1 normal, 2 Beta, 3 Beta regression, 4 gamma regression, 5 Poisson, 6 and 7 negative binomial without and with predictors.
functions {
#include outcome_table.stan
#include noisy_counts.stan
}
data {
  int<lower=1, upper=7> kind;
  int<lower=0> q; // number of predictors
  int<lower=2> bins;
  int<lower=1> rows; // number of bins of a predictor; 1 without predictors
  vector[(q == 0 ? 1 : q) * rows * bins + choose(q, 2) * rows * rows] noisy; // tables of the outcome, then of pairs
  real<lower=0> noise_variance;
  int<lower=0> small; // number of cells with a small noisy count; cells are numbered table by table, column by column
  array[small] int small_cell;
  int<lower=0> large; // number of other cells with a separate likelihood
  array[large] int large_cell;
  int<lower=0> degree;
  matrix[small, degree + 1] polynomial; // P(noisy count | expected count m) = exp(-m) sum_j polynomial[, j + 1] m^j
  int<lower=0> whitened; // number of all cells if several tables count the same records; otherwise 0
  matrix[whitened, whitened] whiten; // makes deviations of noisy from expected counts independent with variance 1
  vector[bins - 1] edges; // inner edges of the outcome, used by the normal family
  int<lower=0> nodes;
  vector[nodes] at;
  vector[nodes] at_other;
  vector[nodes] log_weight;
  matrix[nodes, bins] collect;
  int<lower=1> points;
  vector[points] x; // quadrature points over a predictor, bin by bin, on the scale of the bounds
  vector[points] x_log_weight;
  array[rows] int<lower=1, upper=points> first; // first point of each bin
  array[rows] int<lower=1, upper=points> last;
  vector[q == 0 ? 0 : rows - 1] x_edges;
  vector[q] x_centre; // middle of the declared bounds of each predictor
  vector<lower=0>[q] x_half; // half the distance between them
  real<lower=0> spread_from; // smallest value of the spread
  vector<lower=0>[4] prior;
}
transformed data {
  int p = q + 1;
  int has_spread = kind != 5;
  array[nodes] int bin; // of each node
  int hierarchical = kind == 7 ? p : 0;
  for (j in 1:nodes) {
    for (k in 1:bins) {
      if (collect[j, k] > 0) {
        bin[j] = k;
      }
    }
  }
}
parameters {
  vector[p] theta;
  vector[has_spread] log_spread;
  real log_total;
  vector[q] x_mean;
  vector[q] log_x_sd;
  vector<lower=0>[hierarchical] sd;
  cholesky_factor_corr[hierarchical == 0 ? 1 : hierarchical] correlation_factor;
  cholesky_factor_corr[q == 0 ? 1 : q] x_correlation_factor;
}
transformed parameters {
  vector[p] coefficient = theta;
  real spread = spread_from + (has_spread ? exp(log_spread[1]) : 1.0);
  real total = exp(log_total);
  if (q > 0) {
    coefficient[2:p] = theta[2:p] ./ x_half;
    coefficient[1] = theta[1] - dot_product(x_centre, coefficient[2:p]);
  }
}
model {
  vector[q] x_sd = exp(log_x_sd);
  vector[num_elements(noisy)] expected;
  if (q == 0) {
    expected = total
               * outcome_table(kind, theta[1], 0, spread, 0, 1, x, x_log_weight, first, last, x_edges, edges, at, at_other,
                               log_weight, bin);
  } else {
    matrix[q, q] correlation = multiply_lower_tri_self_transpose(x_correlation_factor);
    vector[q] slopes = theta[2:p];
    vector[q] effect = slopes .* x_sd;
    vector[q] joint = correlation * effect; // covariance of the linear predictor with each predictor, in units of x_sd
    int to = 0;
    for (t in 1:q) {
      real slope = joint[t] / x_sd[t];
      real at_zero = theta[1] + dot_product(slopes, x_mean) - slope * x_mean[t];
      real own = kind == 1 ? sqrt(square(spread) + fmax(dot_product(effect, joint) - square(joint[t]), 0)) : spread;
      expected[(to + 1):(to + rows * bins)]
        = total
          * outcome_table(kind, at_zero, slope, own, x_mean[t], x_sd[t], x, x_log_weight, first, last, x_edges, edges, at,
                          at_other, log_weight, bin);
      to += rows * bins;
    }
    for (j in 1:(q - 1)) {
      for (k in (j + 1):q) {
        real slope = correlation[j, k] * x_sd[k] / x_sd[j];
        real own = x_sd[k] * sqrt(fmax(1 - square(correlation[j, k]), 1e-12));
        expected[(to + 1):(to + rows * rows)]
          = total
            * outcome_table(1, x_mean[k] - slope * x_mean[j], slope, own, x_mean[j], x_sd[j], x, x_log_weight, first, last,
                            x_edges, x_edges, at, at_other, log_weight, bin);
        to += rows * rows;
      }
    }
    x_correlation_factor ~ lkj_corr_cholesky(2);
  }
  target += noisy_counts(expected, noisy, noise_variance, large_cell, small_cell, polynomial);
  if (whitened > 0) {
    target += -0.5 * dot_self(whiten * (noisy - expected));
  }
  target += log_total; // the prior on the number of records is flat
  x_mean ~ normal(0, 2);
  log_x_sd ~ normal(-0.7, 1);
  // prior of each family, including Jacobians of the logarithms
  if (kind == 1) {
    real variance = square(spread);
    target += -2 * prior[2] * log_spread[1] - prior[3] / variance;
    target += -p * log_spread[1] - dot_self(coefficient) / (2 * square(prior[1]) * variance);
  } else if (kind == 2) {
    target += log_inv_logit(theta[1]) + log1m_inv_logit(theta[1]);
    target += pareto_lpdf(spread | prior[1], prior[2]) + log_spread[1];
  } else if (kind == 3) {
    coefficient ~ normal(0, prior[1]);
    target += pareto_lpdf(spread | prior[2], prior[3]) + log_spread[1];
  } else if (kind == 4) {
    coefficient ~ normal(0, prior[1]);
    target += gamma_lpdf(spread | prior[2], prior[3]) + log_spread[1];
  } else if (kind == 5 || kind == 6) {
    target += prior[1] * theta[1] - prior[2] * exp(theta[1]);
    if (kind == 6) {
      target += cauchy_lpdf(spread | 0, prior[3]) + log_spread[1];
    }
  } else {
    target += cauchy_lpdf(spread | 0, prior[1]) + log_spread[1];
    sd ~ student_t(prior[3], 0, prior[4]);
    correlation_factor ~ lkj_corr_cholesky(prior[2]);
    // coefficient ~ multi_normal_cholesky(0, diag_pre_multiply(sd, correlation_factor)), which takes 5 s longer to compile
    target += -0.5 * dot_self(mdivide_left_tri_low(correlation_factor, coefficient ./ sd))
              - sum(log(sd)) - sum(log(diagonal(correlation_factor)));
  }
}
