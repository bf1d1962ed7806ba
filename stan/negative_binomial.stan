// Weighted negative binomial counts with mean mu and variance mu + mu^2 / phi, from unique counts and summed weights, or
// censored record by record.
//
// Prior: mu ~ gamma(shape, rate), 1 / phi ~ half-Cauchy(0, dispersion).
functions {
#include clipped_sum.stan
#include negative_binomial_sum.stan
  // Log probability of the counts from low to high; the complement of those below if high is -1, which denotes an open range.
  real log_range(int low, int high, real log_mean, real phi) {
    int first = high < 0 ? 0 : low;
    int last = high < 0 ? low - 1 : high;
    vector[last - first + 1] log_pmf;
    if (last < first) {
      return 0;
    }
    for (k in first : last) {
      log_pmf[k - first + 1] = neg_binomial_2_log_lpmf(k | log_mean, phi);
    }
    return high < 0 ? log1m_exp(fmin(log_sum_exp(log_pmf), -1e-15)) : log_sum_exp(log_pmf);
  }
}
data {
  int<lower=1> u;
  array[u] int<lower=0> y; // in increasing order
  vector<lower=0>[u] weight;
  int<lower=0> n; // number of censored records; 0 without censoring
  matrix[n, 2] terms; // weight of each censored record, times 1 and an offset
  array[n] int<lower=1> group; // count of each censored record
  real<lower=0> threshold;
  int<lower=0> m; // number of groups with a range; 0 without ranges
  array[m] int low; // first count of each range
  array[m] int high; // last count; -1 for an open range
  array[m] int at; // row of the coefficients of each group
  vector[m] times; // number of records in each group
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
  if (n == 0) {
    target += negative_binomial_sum(y, weight, [log(mu)]', reciprocal_phi);
  } else {
    matrix[u, 2] coefficients;
    for (k in 1 : u) {
      coefficients[k] = [negative_binomial_sum(y[k : k], [1]', [log(mu)]', reciprocal_phi), 1];
    }
    if (m > 0) {
      vector[m] log_p;
      matrix[m, cols(coefficients)] by_range = coefficients[at];
      for (j in 1 : m) {
        log_p[j] = log_range(low[j], high[j], log(mu), phi);
      }
      by_range[ : , 1] -= log_p;
      target += dot_product(times, log_p) + clipped_sum(terms, group, by_range, threshold);
    } else {
      target += clipped_sum(terms, group, coefficients, threshold);
    }
  }
}
