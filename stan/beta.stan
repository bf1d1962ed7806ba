// Weighted Beta likelihood, uncensored or censored record by record (censor paper, Section 3 and supplement).
//
// log p(x | beta1, beta2) = (beta1 - 1) log x + (beta2 - 1) log(1 - x) - log B(beta1, beta2): a product of three data terms
// with three coefficients. Without censoring, the records enter only through the sums of their weighted terms.
functions {
#include clipped_sum.stan
}
data {
  row_vector[3] term_sums; // weighted sums of the terms; 0 if each record is censored separately
  int<lower=0> n; // number of censored records; 0 without censoring
  vector<lower=0, upper=1>[n] x;
  vector<lower=0>[n] weight;
  real<lower=0> threshold;
  row_vector[3] centre; // coefficients around which likelihoods are clipped: those at a reference, or 0
  real<lower=0> lambda_min;
  real<lower=0> lambda_shape;
}
transformed data {
  matrix[n, 3] terms; // weighted terms of each censored record
  array[n] int group = rep_array(1, n);
  for (i in 1 : n) {
    terms[i] = weight[i] * [log(x[i]), log1m(x[i]), 1];
  }
}
parameters {
  real<lower=0, upper=1> phi;
  real<lower=lambda_min> lambda;
}
transformed parameters {
  real beta1 = lambda * phi;
  real beta2 = lambda * (1 - phi);
}
model {
  matrix[1, 3] coefficients = [[beta1 - 1, beta2 - 1, -lbeta(beta1, beta2)]];
  lambda ~ pareto(lambda_min, lambda_shape);
  target += term_sums * coefficients[1]';
  if (n > 0) {
    matrix[1, 3] centred = coefficients - to_matrix(centre);
    target += clipped_sum(terms, group, centred, threshold);
  }
}
