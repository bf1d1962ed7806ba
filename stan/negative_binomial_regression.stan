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
  array[n] int<lower=1, upper=u> group; // distinct record of each censored record
  real<lower=0> threshold;
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
    target += clipped_sum(terms, group, coefficients, threshold);
  }
}
