// Weighted Beta regression with mean phi = inverse logit of design * coefficient and precision lambda. Records with equal
// predictors form a group. They enter through the sums of each group's terms, or are censored record by record.
functions {
#include clipped_sum.stan
}
data {
  int<lower=1> p;
  int<lower=1> groups;
  matrix[groups, p] design; // orthonormal columns scaled to unit variance
  matrix[p, p] inverse_factor; // converts to coefficients of the original predictors
  matrix[groups, 3] term_sums;
  int<lower=0> n;
  vector<lower=0, upper=1>[n] x;
  vector<lower=0>[n] weight;
  array[n] int<lower=1, upper=groups> group;
  real<lower=0> threshold;
  matrix[groups, 3] centre; // coefficients around which likelihoods are clipped: those at a reference, or 0
  real<lower=0> coefficient_sd;
  real<lower=0> lambda_min;
  real<lower=0> lambda_shape;
}
transformed data {
  matrix[n, 3] terms; // weighted terms of each censored record
  for (i in 1 : n) {
    terms[i] = weight[i] * [log(x[i]), log1m(x[i]), 1];
  }
}
parameters {
  vector[p] theta;
  real<lower=lambda_min> lambda;
}
transformed parameters {
  vector[p] coefficient = inverse_factor * theta;
}
model {
  vector[groups] phi = inv_logit(design * theta);
  vector[groups] beta1 = lambda * phi;
  vector[groups] beta2 = lambda * (1 - phi);
  matrix[groups, 3] coefficients;
  coefficients[ : , 1] = beta1 - 1;
  coefficients[ : , 2] = beta2 - 1;
  coefficients[ : , 3] = lgamma(lambda) - lgamma(beta1) - lgamma(beta2);
  coefficient ~ normal(0, coefficient_sd);
  lambda ~ pareto(lambda_min, lambda_shape);
  target += sum(term_sums .* coefficients);
  if (n > 0) {
    matrix[groups, 3] centred = coefficients - centre;
    target += clipped_sum(terms, group, centred, threshold);
  }
}
