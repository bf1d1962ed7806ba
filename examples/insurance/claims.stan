data {
  int<lower=0> n;
  array[n] int<lower=0> x;
  vector<lower=0>[n] weights;
  int<lower=1> regions;
  array[n] int<lower=1, upper=regions> region;
  vector<lower=0>[n] years;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[regions] deviation;
}
transformed parameters {
  vector[n] log_mean = mu + tau * deviation[region] + log(years);
}
model {
  mu ~ normal(0, 1);
  tau ~ normal(0, 0.5);
  deviation ~ normal(0, 1);
  for (i in 1:n) {
    target += weights[i] * poisson_log_lpmf(x[i] | log_mean[i]);
  }
}
generated quantities {
  vector[n] log_lik;
  array[n] int x_rep = poisson_log_rng(log_mean);
  for (i in 1:n) {
    log_lik[i] = poisson_log_lpmf(x[i] | log_mean[i]);
  }
}
