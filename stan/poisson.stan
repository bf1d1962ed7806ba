// Weighted Poisson counts from sufficient statistics, under the conjugate gamma prior on the mean.
//
// Without censoring, the weighted likelihood prod_i poisson(y_i | mu)^w_i depends on the records only through sum w and sum w y. Censored
// record by record, its log density is a product of the terms y, 1 and an offset, with three coefficients.
functions {
#include clipped_sum.stan
}
data {
  real<lower=0> weight_total;
  real<lower=0> weighted_sum;
  int<lower=0> n; // number of censored records; 0 without censoring
  matrix[n, 3] terms; // weighted terms of each censored record
  array[n] int<lower=1> group;
  real<lower=0> threshold;
  real<lower=0> prior_shape;
  real<lower=0> prior_rate;
}
parameters {
  real<lower=0> mu;
}
model {
  mu ~ gamma(prior_shape, prior_rate);
  if (n == 0) {
    target += weighted_sum * log(mu) - weight_total * mu;
  } else {
    matrix[1, 3] coefficients = [[log(mu), -mu, 1]];
    target += clipped_sum(terms, group, coefficients, threshold);
  }
}
