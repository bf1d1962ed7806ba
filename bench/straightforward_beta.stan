// The censored Beta model written the way a paper writes it: a loop over records, and every record's log-likelihood
// in generated quantities. It is used for comparison only.
functions {
  real weighted_record(real x, real shape1, real shape2, real weight) {
    return weight * beta_lpdf(x | shape1, shape2);
  }
}
data {
  int<lower=1> n;
  vector<lower=0, upper=1>[n] x;
  vector<lower=0>[n] weight;
  real<lower=0> threshold;
}
parameters {
  real<lower=0, upper=1> phi;
  real<lower=0.1> lambda;
}
transformed parameters {
  real shape1 = lambda * phi;
  real shape2 = lambda * (1 - phi);
}
model {
  lambda ~ pareto(0.1, 1.5);
  for (i in 1 : n) {
    target += fmax(fmin(weighted_record(x[i], shape1, shape2, weight[i]), threshold), -threshold);
  }
}
generated quantities {
  vector[n] log_lik;
  vector[n] log_lik_censored;
  for (i in 1 : n) {
    log_lik[i] = weighted_record(x[i], shape1, shape2, weight[i]);
    log_lik_censored[i] = fmax(fmin(log_lik[i], threshold), -threshold);
  }
}
