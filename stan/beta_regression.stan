// Weighted Beta regression with mean phi = inverse logit of design * coefficient and precision lambda. Records with equal
// predictors form a group. They enter through the sums of each group's terms, or are censored record by record.
functions {
#include clipped_sum.stan
  // Log of the distribution function of a Beta variable at x = 1 - y, by the continued fraction of DiDonato and Morris, which is
  // smooth in both shapes, unlike the derivatives of Stan's distribution function; it converges fast for x below the mean.
  real log_lower(real x, real y, real a, real b) {
    real c = 1;
    real d = 1 - (a + b) * x / (a + 1);
    real fraction;
    real change = 0;
    int k = 0;
    d = inv(d);
    fraction = d;
    while (square(change - 1) > 1e-30 && k < 10000) {
      real even;
      real odd;
      k += 1;
      even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
      d = inv(1 + even * d);
      c = 1 + even / c;
      fraction *= c * d;
      odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
      d = inv(1 + odd * d);
      c = 1 + odd / c;
      change = c * d;
      fraction *= change;
    }
    return a * log(x) + b * log(y) - log(a) - lbeta(a, b) + log(fraction);
  }
  // Log of the lower tail (upper = 0) or the upper tail.
  real log_tail(real x, real a, real b, int upper) {
    int below = x < (a + 1) / (a + b + 2);
    real log_value = below ? log_lower(x, 1 - x, a, b) : log_lower(1 - x, x, b, a);
    return below == upper ? log1m_exp(fmin(log_value, -1e-15)) : log_value;
  }
  // Log probability of a range in the unit interval; above the mean, the upper tail is the smaller one.
  real log_range(real low, real high, real a, real b) {
    if (low <= 0) {
      return high >= 1 ? 0 : log_tail(high, a, b, 0);
    }
    if (high >= 1) {
      return log_tail(low, a, b, 1);
    }
    return low * (a + b) > a ? log_diff_exp(log_tail(low, a, b, 1), log_tail(high, a, b, 1))
                             : log_diff_exp(log_tail(high, a, b, 0), log_tail(low, a, b, 0));
  }
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
  int<lower=0> m; // number of groups with a range; 0 without ranges
  vector[m] low;
  vector[m] high;
  array[m] int at; // row of the coefficients of each group
  vector[m] times; // number of records in each group
  array[m > 0 ? n : 0] int range_group;
  vector[m > 0 ? n : 0] base; // offset of each record
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
    if (m == 0) {
      target += clipped_sum(terms, group, centred, threshold);
    } else {
      vector[m] log_p;
      matrix[m, 4] by_range = append_col(centred[at], rep_vector(1, m));
      for (j in 1 : m) {
        log_p[j] = log_range(low[j], high[j], beta1[at[j]], beta2[at[j]]);
      }
      by_range[ : , 3] -= log_p;
      target += dot_product(times, log_p) + clipped_sum(append_col(terms, base), range_group, by_range, threshold);
    }
  }
}
