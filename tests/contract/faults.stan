// Normal regression with every fault of a user's program to choose from; 0 is none.
functions {
  // Log density of a record; what it sees of others is a fault.
  real term(int i, vector x, vector mu, real sigma, int fault) {
    real value = normal_lpdf(x[i] | mu[i] + (fault == 27 && i > 1 ? 0.1 * x[i - 1] : 0), sigma);
    if (fault == 6) value += log(2);
    if (fault == 34) for (j in 1:num_elements(x)) if (j != i && x[j] == x[i]) value -= 0.5;
    if (fault == 41) value += 0.01 * i;
    return value;
  }
}
data {
  int<lower=0> n;
  vector[n] x;
  vector<lower=0>[n] weights;
  int<lower=1> p;
  matrix[n, p] design;
  int<lower=0> fault;
  real<lower=0> threshold;
  vector[n] offset;
}
transformed data {
  matrix[n, p] z = design;
  vector[n] w = weights;
  real centre = 0;
  real spread = 2;
  if (fault == 3) for (j in 2:p) z[, j] = design[, j] - mean(design[, j]);
  if (fault == 21) centre = x[n];
  if (fault == 22) spread = 2 + fabs(max(x));
  if (fault == 23) for (j in 2:p) z[, j] = design[, j] - min(design[, j]);
  if (fault == 25) for (j in 2:p) z[, j] = design[, j] / max(fabs(design[, j]));
  if (fault == 26) centre = dot_product(weights, x) / 10;
  if (fault == 29) for (i in 1:n) w[i] = fmax(weights[i], 0.05);
  if (fault == 30 && max(weights) > 0) w = weights / max(weights);
  if (fault == 32) centre = normal_rng(0, 1);
  if (fault == 33) centre = min(design[, p]);
  if (fault == 35) w = weights / mean(weights);
  if (fault == 36) centre = sort_asc(x)[(n + 1) %/% 2];
  if (fault == 37) for (i in 1:n) w[i] = weights[i] < 0.01 ? 0 : weights[i];
  if (fault == 39 && n > 20) centre = x[1];
  if (fault == 42) for (i in 1:n) if (x[i] > 60) centre = 1;
  if (fault == 43) centre = 0.0001 * mean(x);
  if (fault == 46 && min(x) < -10000) centre = 1;
  if (fault == 47 && min(weights) > 0.3 && max(weights) < 0.6) centre = max(x);
}
parameters {
  vector[p] beta;
  real<lower=0, upper=(fault == 28 ? 10 + max(x) : 1e6)> sigma;
}
model {
  vector[n] mu = z * beta;
  if (fault != 5) beta ~ normal(centre, spread);
  if (fault == 10) beta[1] ~ normal(0, n);
  if (fault == 14 && n > 0) if (min(weights) == 1) beta[1] ~ normal(mean(x), 0.1);
  if (fault == 40) beta ~ normal(0, 1 + sum(weights));
  sigma ~ lognormal(0, 0.5);
  for (i in 1:n) {
    real value = term(i, x, mu, sigma, fault);
    if (fault == 38) value = fmax(value, -1000);
    value = (fault == 1 || (fault == 24 && n > 1000) ? 1 : w[i]) * (value + (fault == 18 ? 0 : offset[i]));
    if (fault == 18) value += offset[i];
    target += fault == 17 ? value : fmin(fmax(value, -threshold), threshold);
  }
}
generated quantities {
  vector[n] log_lik;
  vector[fault == 4 ? n - 1 : n] x_rep;
  vector[fault == 13 ? n + 1 : n] log_cdf;
  if (fault == 13) log_cdf[n + 1] = 0;
  {
    vector[n] mu = z * beta;
    for (i in 1:n) {
      log_lik[i] = term(i, x, mu, sigma, fault) + (fault == 9 ? log(2) : 0);
      if (fault == 2) log_lik[i] *= weights[i];
      if (fault == 8 && x[i] == 0) log_lik[i] = negative_infinity();
      log_cdf[i] = normal_lcdf(x[i] | mu[i] + (fault == 12 ? x[1] : 0), fault == 11 ? 1.1 * sigma : sigma);
      if (fault == 16 && weights[i] < 0.3) log_cdf[i] = 0;
    }
    if (fault == 45) mu += 0.05 * mean(design[, p]);
    for (i in 1:num_elements(x_rep)) {
      x_rep[i] = normal_rng(mu[i], fault == 7 || (fault == 15 && weights[i] < 0.3) ? 2 * sigma : sigma);
      if (fault == 48 && x[i] == round(x[i])) x_rep[i] = round(x_rep[i]);
      if (fault == 31 && x_rep[i] > mu[i] + 2.5 * sigma) x_rep[i] = x[i];
      if (fault == 44 && fabs(x_rep[i] - x[i]) < 0.1 * sigma) x_rep[i] = x[i];
    }
  }
}
