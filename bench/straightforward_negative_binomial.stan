// A weighted negative binomial model written the way a paper writes it: a loop over records, and every record's log-likelihood
// in generated quantities. It is used for comparison only.
data {
  int<lower=1> n;
  array[n] int<lower=0> x;
  vector<lower=0>[n] weight;
}
parameters {
  real<lower=0> mu;
  real<lower=1e-8> reciprocal_phi;
}
transformed parameters {
  real phi = inv(reciprocal_phi);
}
model {
  mu ~ gamma(0.01, 0.01);
  reciprocal_phi ~ cauchy(0, 5);
  for (i in 1 : n) {
    target += weight[i] * neg_binomial_2_lpmf(x[i] | mu, phi);
  }
}
generated quantities {
  vector[n] log_lik;
  for (i in 1 : n) {
    log_lik[i] = weight[i] * neg_binomial_2_lpmf(x[i] | mu, phi);
  }
}
