// Weighted negative binomial counts with mean mu and variance mu + mu^2 / phi, from unique counts and summed weights.
//
// Prior: mu ~ gamma(shape, rate), 1 / phi ~ half-Cauchy(0, dispersion).
functions {
#include negative_binomial_sum.stan
}
data {
  int<lower=1> u;
  array[u] int<lower=0> y; // in increasing order
  vector<lower=0>[u] weight;
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
  target += negative_binomial_sum(y, weight, [log(mu)]', reciprocal_phi);
}
