// Weighted negative binomial regression with log link, from distinct records and summed weights, or
// censored record by record.
//
// theta = R beta, with R the triangular factor of the weighted design, has axes of equal scale, however collinear the predictors
// are. The sampler uses theta standardised by its conditional mean and covariance given the prior scales, with the likelihood
// approximated by normal(theta_hat, identity / information). It therefore meets neither the funnel of a small prior scale nor a
// narrow ridge. theta_hat and information need only be rough: the posterior does not depend on them.
//
// Prior: 1 / phi ~ half-Cauchy(0, dispersion), beta ~ normal(0, diag(sd) C diag(sd)), C ~ LKJ(correlation),
// sd ~ half-t(df, scale).
functions {
#include clipped_sum.stan
#include negative_binomial_sum.stan
  // Log probability of the counts from low to high; the complement of those below if high is -1, which denotes an open range.
  real log_range(int low, int high, real log_mean, real phi) {
    int first = high < 0 ? 0 : low;
    int last = high < 0 ? low - 1 : high;
    vector[last - first + 1] log_pmf;
    if (last < first) {
      return 0;
    }
    for (k in first : last) {
      log_pmf[k - first + 1] = neg_binomial_2_log_lpmf(k | log_mean, phi);
    }
    return high < 0 ? log1m_exp(fmin(log_sum_exp(log_pmf), -1e-15)) : log_sum_exp(log_pmf);
  }
}
data {
  int<lower=1> u;
  int<lower=1> p;
  array[u] int<lower=0> y; // in increasing order
  vector<lower=0>[u] weight;
  matrix[u, p] basis; // design times R^-1
  matrix[p, p] inverse_factor; // R^-1
  vector[p] theta_hat;
  real<lower=0> information;
  int<lower=0> n; // number of censored records; 0 without censoring
  matrix[n, 2] terms; // weight of each censored record, times 1 and an offset
  array[n] int<lower=1> group; // distinct record of each censored record
  real<lower=0> threshold;
  int<lower=0> m; // number of groups with a range; 0 without ranges
  array[m] int low; // first count of each range
  array[m] int high; // last count; -1 for an open range
  array[m] int at; // row of the coefficients of each group
  vector[m] times; // number of records in each group
  real<lower=0> prior_dispersion;
  real<lower=0> prior_correlation;
  real<lower=0> prior_df;
  real<lower=0> prior_scale;
}
parameters {
  vector[p] standardised;
  vector<lower=0>[p] sd;
  cholesky_factor_corr[p] correlation_factor;
  real<lower=0> reciprocal_phi;
}
transformed parameters {
  matrix[p, p] scaled = mdivide_left_tri_low(diag_pre_multiply(sd, correlation_factor), inverse_factor);
  matrix[p, p] precision_factor = cholesky_decompose(add_diag(crossprod(scaled), information));
  vector[p] theta = mdivide_right_tri_low((standardised + mdivide_left_tri_low(precision_factor, information * theta_hat))',
                                          precision_factor)';
  vector[p] beta = inverse_factor * theta;
  real phi = inv(reciprocal_phi);
}
model {
  reciprocal_phi ~ cauchy(0, prior_dispersion);
  sd ~ student_t(prior_df, 0, prior_scale);
  correlation_factor ~ lkj_corr_cholesky(prior_correlation);
  beta ~ multi_normal_cholesky(rep_vector(0, p), diag_pre_multiply(sd, correlation_factor));
  target += -sum(log(diagonal(precision_factor))); // Jacobian of the standardisation
  if (n == 0) {
    target += negative_binomial_sum(y, weight, basis * theta, reciprocal_phi);
  } else {
    vector[u] log_mean = basis * theta;
    matrix[u, 2] coefficients;
    for (k in 1 : u) {
      coefficients[k] = [negative_binomial_sum(y[k : k], [1]', log_mean[k : k], reciprocal_phi), 1];
    }
    if (m > 0) {
      vector[m] log_p;
      matrix[m, cols(coefficients)] by_range = coefficients[at];
      for (j in 1 : m) {
        log_p[j] = log_range(low[j], high[j], log_mean[at[j]], phi);
      }
      by_range[ : , 1] -= log_p;
      target += dot_product(times, log_p) + clipped_sum(terms, group, by_range, threshold);
    } else {
      target += clipped_sum(terms, group, coefficients, threshold);
    }
  }
}
