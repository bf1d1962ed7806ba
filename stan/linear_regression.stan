// Weighted linear regression of y on X from sufficient statistics, under a conjugate prior.
//
// The weighted likelihood prod_i normal(y_i | x_i beta, sigma)^w_i depends on the records only through
// W = sum w, the upper Cholesky factor R of X' diag(w) X / W, theta_hat = R beta_hat and the residual sum of squares.
// Sampling theta = R beta gives axes of equal scale, however collinear X is, so the prior on beta is stated on theta.
//
// Censored record by record, the log density is a product of data terms and as many coefficients; with r the residual and q the
// row of the basis of a record, the terms are its weight times r^2, r q_j, q_j q_k (j <= k), 1 and an offset.
//
// With ranges, a record has the log probability of its range in full, and only the rest of its log density is censored. Records
// of the same range and predictors are a group, with a row of coefficients and a number of records.
//
// Prior: sigma^2 ~ inv_gamma(shape, scale), beta | sigma ~ normal(0, prior_sd * sigma).
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
  real<lower=0> weight_total;
  vector[p] theta_hat;
  matrix[p, p] inverse_factor; // R^-1: beta = R^-1 theta
  real<lower=0> residual_squares;
  int<lower=0> n; // number of censored records; 0 without censoring
  matrix[n, p + (p * (p + 1)) %/% 2 + 3] terms;
  array[n] int<lower=1> group;
  real<lower=0> threshold;
  int<lower=0> m; // number of groups with a range; 0 without ranges
  vector[m] low;
  vector[m] high;
  matrix[m, p] basis;
  vector[m] times;
  real<lower=0> prior_sd;
  real<lower=0> prior_shape;
  real<lower=0> prior_scale;
}
parameters {
  vector[p] theta;
  real log_sigma;
}
transformed parameters {
  vector[p] beta = inverse_factor * theta;
  real sigma = exp(log_sigma);
}
model {
  real variance = square(sigma);
  // density of sigma^2 transformed to log_sigma; the Jacobian is 2 sigma^2
  target += -2 * prior_shape * log_sigma - prior_scale / variance;
  target += -p * log_sigma - dot_self(beta) / (2 * square(prior_sd) * variance);
  if (n == 0) {
    target += -weight_total * log_sigma
              - (residual_squares + weight_total * dot_self(theta - theta_hat)) / (2 * variance);
  } else {
    vector[p] off = theta - theta_hat;
    matrix[1, p + (p * (p + 1)) %/% 2 + 3] coefficients;
    int column = 1 + p;
    coefficients[1, 1] = -0.5 / variance;
    for (j in 1 : p) {
      coefficients[1, 1 + j] = off[j] / variance;
      for (k in j : p) {
        column += 1;
        coefficients[1, column] = -(j == k ? 0.5 : 1.0) * off[j] * off[k] / variance;
      }
    }
    coefficients[1, column + 1] = -log_sigma - 0.5 * log(2 * pi());
    coefficients[1, column + 2] = 1;
    if (m > 0) {
      vector[m] at = basis * theta;
      vector[m] log_p;
      matrix[m, p + (p * (p + 1)) %/% 2 + 3] by_group = rep_matrix(coefficients[1], m);
      for (j in 1 : m) {
        log_p[j] = log_range((low[j] - at[j]) / sigma, (high[j] - at[j]) / sigma);
        by_group[j, column + 1] -= log_p[j];
      }
      target += dot_product(times, log_p) + clipped_sum(terms, group, by_group, threshold);
    } else {
      target += clipped_sum(terms, group, coefficients, threshold);
    }
  }
}
