// Weighted negative binomial counts with mean mu and variance mu + mu^2 / phi, from unique counts and summed weights.
//
// Prior: mu ~ gamma(shape, rate), 1 / phi ~ half-Cauchy(0, dispersion).
data {
  int<lower=1> u;
  array[u] int<lower=0> y;
  vector<lower=0>[u] weight;
  real<lower=0> prior_shape;
  real<lower=0> prior_rate;
  real<lower=0> prior_dispersion;
}
transformed data {
  vector[u] count = to_vector(y);
  real weight_total = sum(weight);
  real weighted_sum = dot_product(weight, count);
}
parameters {
  real<lower=0> mu;
  // The bound is 1e-8 and not 0 because differences of lgamma lose their digits as phi grows, which makes a false mode at the
  // far end; the prior has less than 1e-8 of its mass below it.
  real<lower=1e-8> reciprocal_phi;
}
transformed parameters {
  real phi = inv(reciprocal_phi);
}
model {
  mu ~ gamma(prior_shape, prior_rate);
  reciprocal_phi ~ cauchy(0, prior_dispersion);
  target += dot_product(weight, lgamma(count + phi)) - weight_total * lgamma(phi)
            + weighted_sum * log(mu * reciprocal_phi) - (weighted_sum + weight_total * phi) * log1p(mu * reciprocal_phi);
}
