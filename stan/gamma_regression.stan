// Weighted gamma regression with log link: mean exp(design * beta), variance mean^2 / shape.
//
// The weighted likelihood prod_i gamma(x_i | shape, shape / mean_i)^w_i depends on the records through sum w log x, and, for each
// distinct row of the design, through sum w and sum w x.
// Sampling theta = R beta, with R the triangular factor of the weighted design, gives axes of equal scale, however collinear the
// predictors are.
//
// Prior: beta ~ normal(0, coefficient_sd), shape ~ gamma(shape_shape, shape_rate).
data {
  int<lower=1> p;
  int<lower=1> groups; // distinct rows of the design
  matrix[groups, p] basis; // design times R^-1
  matrix[p, p] inverse_factor; // R^-1
  vector<lower=0>[groups] weight;
  vector<lower=0>[groups] weighted_sum; // sum of w x
  real weighted_log_sum; // sum of w log x over all groups
  real<lower=0> coefficient_sd;
  real<lower=0> shape_shape;
  real<lower=0> shape_rate;
}
transformed data {
  real weight_total = sum(weight);
}
parameters {
  vector[p] theta;
  real<lower=0> shape;
}
transformed parameters {
  vector[p] beta = inverse_factor * theta;
}
model {
  vector[groups] eta = basis * theta;
  beta ~ normal(0, coefficient_sd);
  shape ~ gamma(shape_shape, shape_rate);
  target += weight_total * (shape * log(shape) - lgamma(shape))
            + shape * (weighted_log_sum - dot_product(weight, eta) - dot_product(weighted_sum, exp(-eta)));
}
