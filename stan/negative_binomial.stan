// Weighted negative binomial counts with mean mu and variance mu + mu^2 / phi, from unique counts and summed weights, or
// censored record by record.
//
// Prior: mu ~ gamma(shape, rate), 1 / phi ~ half-Cauchy(0, dispersion).
functions {
#include clipped_sum.stan
#include negative_binomial_sum.stan
}
data {
  int<lower=1> u;
  array[u] int<lower=0> y; // in increasing order
  vector<lower=0>[u] weight;
  int<lower=0> n; // number of censored records; 0 without censoring
  matrix[n, 2] terms; // weight of each censored record, times 1 and an offset
  array[n] int<lower=1, upper=u> group; // count of each censored record
  real<lower=0> threshold;
  real<lower=0> prior_shape;
  real<lower=0> prior_rate;
  real<lower=0> prior_dispersion;
}
parameters {
  real<lower=0> mu;
  real<lower=0> reciprocal_phi;
}
transformed parameters {
  real phi = inv(reciprocal_phi);
}
model {
  mu ~ gamma(prior_shape, prior_rate);
  reciprocal_phi ~ cauchy(0, prior_dispersion);
  if (n == 0) {
    target += negative_binomial_sum(y, weight, [log(mu)]', reciprocal_phi);
  } else {
    matrix[u, 2] coefficients;
    for (k in 1 : u) {
      coefficients[k] = [negative_binomial_sum(y[k : k], [1]', [log(mu)]', reciprocal_phi), 1];
    }
    target += clipped_sum(terms, group, coefficients, threshold);
  }
}
