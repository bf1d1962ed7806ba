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
  // Log of the lower tail (upper = 0) or the upper tail of a gamma variable with rate 1, by the power series below the mean and
  // Legendre's continued fraction above it: smooth in both arguments, unlike the derivatives of Stan's distribution function.
  real log_tail(real z, real shape, int upper) {
    real log_value = shape * log(z) - z - lgamma(shape + 1);
    int below = z < shape + 1;
    if (below) {
      real term = 1;
      real total = 1;
      int k = 0;
      while (term > 1e-16 * total) {
        k += 1;
        term *= z / (shape + k);
        total += term;
      }
      log_value += log(total);
    } else {
      real b = z + 1 - shape;
      real c = 1e300;
      real d = inv(b);
      real fraction = d;
      real change = 0;
      int k = 0;
      while (square(change - 1) > 1e-30 && k < 10000) {
        k += 1;
        b += 2;
        d = inv(b - k * (k - shape) * d);
        c = b - k * (k - shape) / c;
        change = c * d;
        fraction *= change;
      }
      log_value += log(shape) + log(fraction);
    }
    return below == upper ? log1m_exp(fmin(log_value, -1e-15)) : log_value;
  }
  // Log probability of a range of such a variable; above the mean, the upper tail is the smaller one. Ends beyond 1e50 stand for
  // infinite ones.
  real log_range(real low, real high, real shape) {
    if (low <= 0) {
      return high > 1e50 ? 0 : log_tail(high, shape, 0);
    }
    if (high > 1e50) {
      return log_tail(low, shape, 1);
    }
    return low > shape ? log_diff_exp(log_tail(low, shape, 1), log_tail(high, shape, 1))
                       : log_diff_exp(log_tail(high, shape, 0), log_tail(low, shape, 0));
  }
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
  array[n] int<lower=1> group;
  real<lower=0> threshold;
  int<lower=0> m; // number of groups with a range; 0 without ranges
  vector[m] low;
  vector[m] high;
  array[m] int at; // row of the coefficients of each group
  vector[m] times; // number of records in each group
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
    if (m > 0) {
      vector[m] log_p;
      matrix[m, cols(coefficients)] by_range = coefficients[at];
      for (j in 1 : m) {
        log_p[j] = log_range(low[j] * shape * exp(-eta[at[j]]), high[j] > 1e50 ? high[j] : high[j] * shape * exp(-eta[at[j]]), shape);
      }
      by_range[ : , 1] -= log_p;
      target += dot_product(times, log_p) + clipped_sum(terms, group, by_range, threshold);
    } else {
      target += clipped_sum(terms, group, coefficients, threshold);
    }
  }
}
