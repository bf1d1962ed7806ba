// Weighted Poisson counts from sufficient statistics, under the conjugate gamma prior on the mean.
//
// The weighted likelihood prod_i poisson(y_i | mu)^w_i depends on the records only through sum w and sum w y.
data {
  real<lower=0> weight_total;
  real<lower=0> weighted_sum;
  real<lower=0> prior_shape;
  real<lower=0> prior_rate;
}
parameters {
  real<lower=0> mu;
}
model {
  mu ~ gamma(prior_shape, prior_rate);
  target += weighted_sum * log(mu) - weight_total * mu;
}
