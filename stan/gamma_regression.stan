// Weighted gamma regression with log link: mean exp(design * beta), variance mean^2 / shape.
//
// Without censoring, the weighted likelihood prod_i gamma(x_i | shape, shape / mean_i)^w_i depends on the records through
// sum w log x, and, for each distinct row of the design, through sum w and sum w x. Censored record by record, its log density is a
// product of the terms 1, log x, x and an offset, with four coefficients for each distinct row.
// Sampling theta = R beta, with R the triangular factor of the weighted design, gives axes of equal scale, however collinear the
// predictors are.
//
// Prior: beta ~ normal(0, coefficient_sd), shape ~ gamma(shape_shape, shape_rate).
functions {
#include clipped_sum.stan
}
data {
  int<lower=1> p;
  int<lower=1> groups; // distinct rows of the design
  matrix[groups, p] basis; // design times R^-1
  matrix[p, p] inverse_factor; // R^-1
  vector<lower=0>[groups] weight;
  vector<lower=0>[groups] weighted_sum; // sum of w x
  real weighted_log_sum; // sum of w log x over all groups
  int<lower=0> n; // number of censored records; 0 without censoring
  matrix[n, 4] terms; // weighted terms of each censored record
  array[n] int<lower=1, upper=groups> group;
  real<lower=0> threshold;
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
  if (n == 0) {
    target += weight_total * (shape * log(shape) - lgamma(shape))
              + shape * (weighted_log_sum - dot_product(weight, eta) - dot_product(weighted_sum, exp(-eta)));
  } else {
    matrix[groups, 4] coefficients;
    coefficients[ : , 1] = shape * log(shape) - lgamma(shape) - shape * eta;
    coefficients[ : , 2] = rep_vector(shape - 1, groups);
    coefficients[ : , 3] = -shape * exp(-eta);
    coefficients[ : , 4] = ones_vector(groups);
    target += clipped_sum(terms, group, coefficients, threshold);
  }
}
