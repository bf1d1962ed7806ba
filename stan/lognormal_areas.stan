// Weighted lognormal regression with exchangeable coefficients, such as the means of areas: centred parametrisation.
//
// Records with equal predictors form a group, and enter through the sum of their weights, the weighted mean of their logarithms,
// and the weighted squares of the deviations d from it. Censored record by record, the log density is a product of data terms
// (the weight times d^2, d, 1 and an offset) and as many coefficients of the group.
functions {
#include clipped_sum.stan
  // Log probability of a range of a standard normal variable; above 0, the upper tail is the smaller one.
  // Ends beyond 1e50 stand for infinite ones, whose derivatives would be undefined.
  real log_range(real low, real high) {
    if (low < -1e50) {
      return high > 1e50 ? 0 : std_normal_lcdf(high);
    }
    if (high > 1e50) {
      return std_normal_lcdf(-low);
    }
    return low > 0 ? log_diff_exp(std_normal_lcdf(-low), std_normal_lcdf(-high))
                   : log_diff_exp(std_normal_lcdf(high), std_normal_lcdf(low));
  }
}
data {
  int<lower=1> p;
  int<lower=1> groups;
  matrix[groups, p] design;
  vector<lower=0>[groups] weight_total;
  vector[groups] mean_log;
  real<lower=0> squares;
  int<lower=0> n; // number of censored records; 0 without censoring
  matrix[n, 4] terms;
  array[n] int<lower=1> group;
  real<lower=0> threshold;
  int<lower=0> m; // number of groups with a range; 0 without ranges
  vector[m] low;
  vector[m] high;
  array[m] int at; // row of the coefficients of each group
  vector[m] times; // number of records in each group
  real<lower=0> prior_intercept_sd;
  real<lower=0> prior_area_shape;
  real<lower=0> prior_area_scale;
  real<lower=0> prior_scale;
}
parameters {
  vector[p] beta;
  real intercept;
  real<lower=0> area_sd;
  real<lower=0> sigma;
}
model {
  vector[groups] off = design * beta - mean_log;
  real precision = inv_square(sigma);
  intercept ~ normal(0, prior_intercept_sd);
  // density of area_sd^2, an inverse gamma, transformed to area_sd; the Jacobian is 2 area_sd
  target += -(2 * prior_area_shape + 1) * log(area_sd) - prior_area_scale / square(area_sd);
  sigma ~ normal(0, prior_scale);
  beta ~ normal(intercept, area_sd);
  if (n == 0) {
    target += -0.5 * precision * (squares + dot_product(weight_total, square(off))) - sum(weight_total) * log(sigma);
  } else {
    matrix[groups, 4] coefficients;
    coefficients[ : , 1] = rep_vector(-0.5 * precision, groups);
    coefficients[ : , 2] = precision * off;
    coefficients[ : , 3] = -0.5 * precision * square(off) - log(sigma) - 0.5 * log(2 * pi());
    coefficients[ : , 4] = rep_vector(1, groups);
    if (m > 0) {
      vector[m] log_p;
      matrix[m, cols(coefficients)] by_range = coefficients[at];
      for (j in 1 : m) {
        log_p[j] = log_range((low[j] - mean_log[at[j]] - off[at[j]]) / sigma, (high[j] - mean_log[at[j]] - off[at[j]]) / sigma);
      }
      by_range[ : , 3] -= log_p;
      target += dot_product(times, log_p) + clipped_sum(terms, group, by_range, threshold);
    } else {
      target += clipped_sum(terms, group, coefficients, threshold);
    }
  }
}
