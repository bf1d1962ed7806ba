// Weighted Poisson counts from sufficient statistics, under the conjugate gamma prior on the mean.
//
// Without censoring, the weighted likelihood prod_i poisson(y_i | mu)^w_i depends on the records only through sum w and sum w y. Censored
// record by record, its log density is a product of the terms y, 1 and an offset, with three coefficients.
functions {
#include clipped_sum.stan
  // Log probability of the counts from low to high; the complement of those below if high is -1, which denotes an open range.
  real log_range(int low, int high, real mu) {
    int first = high < 0 ? 0 : low;
    int last = high < 0 ? low - 1 : high;
    vector[last - first + 1] log_pmf;
    if (last < first) {
      return 0;
    }
    for (k in first : last) {
      log_pmf[k - first + 1] = poisson_lpmf(k | mu);
    }
    return high < 0 ? log1m_exp(fmin(log_sum_exp(log_pmf), -1e-15)) : log_sum_exp(log_pmf);
  }
}
data {
  real<lower=0> weight_total;
  real<lower=0> weighted_sum;
  int<lower=0> n; // number of censored records; 0 without censoring
  matrix[n, 3] terms; // weighted terms of each censored record
  array[n] int<lower=1> group;
  real<lower=0> threshold;
  int<lower=0> m; // number of groups with a range; 0 without ranges
  array[m] int low; // first count of each range
  array[m] int high; // last count; -1 for an open range
  array[m] int at; // row of the coefficients of each group
  vector[m] times; // number of records in each group
  real<lower=0> prior_shape;
  real<lower=0> prior_rate;
}
parameters {
  real<lower=0> mu;
}
model {
  mu ~ gamma(prior_shape, prior_rate);
  if (n == 0) {
    target += weighted_sum * log(mu) - weight_total * mu;
  } else {
    matrix[1, 3] coefficients = [[log(mu), -mu, 1]];
    if (m > 0) {
      vector[m] log_p;
      matrix[m, cols(coefficients)] by_range = coefficients[at];
      for (j in 1 : m) {
        log_p[j] = log_range(low[j], high[j], mu);
      }
      by_range[ : , 2] -= log_p;
      target += dot_product(times, log_p) + clipped_sum(terms, group, by_range, threshold);
    } else {
      target += clipped_sum(terms, group, coefficients, threshold);
    }
  }
}
