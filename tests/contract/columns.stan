// Binomial regression with further columns of the records, and their faults to choose from; 0 is none.
data {
  int<lower=0> n;
  array[n] int<lower=0> x;
  vector<lower=0>[n] weights;
  array[n] int<lower=1> trials;
  array[n] int<lower=1, upper=4> group;
  vector[n] dose;
  int<lower=0> fault;
}
transformed data {
  vector[n] z = dose;
  real centre = 0;
  if (fault == 1) z = dose - mean(dose);
  if (fault == 2) centre = max(dose);
  if (fault == 3) centre = min(trials);
}
parameters {
  vector[4] mu;
  real slope;
}
transformed parameters {
  vector[n] odds = mu[group] + slope * z / 10;
}
model {
  mu ~ normal(centre, 1);
  slope ~ normal(0, 1);
  for (i in 1:n) target += weights[i] * binomial_logit_lpmf(x[i] | trials[i], odds[i]);
}
generated quantities {
  vector[n] log_lik;
  vector[n] x_rep;
  for (i in 1:n) {
    log_lik[i] = binomial_logit_lpmf(x[i] | trials[i], odds[i]);
    if (fault == 4 && dose[i] >= 10) log_lik[i] = negative_infinity();
    x_rep[i] = binomial_rng(fault == 6 ? 1 : trials[i], inv_logit(odds[i] + (fault == 5 ? 0.5 * mean(dose) : 0)));
  }
}
