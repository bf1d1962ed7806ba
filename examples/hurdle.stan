// Amounts of which some are zero. The weights are exponents of the likelihood of each record.
data {
  int<lower=0> n;
  vector<lower=0>[n] x;
  vector<lower=0>[n] weights;
  real<lower=0> scale;
}
parameters {
  real<lower=0, upper=1> zero;
  real mu;
  real<lower=0> sigma;
}
transformed parameters {
  vector[n] term;
  for (i in 1 : n) {
    term[i] = x[i] == 0 ? log(zero) : log1m(zero) + lognormal_lpdf(x[i] | mu, sigma);
  }
}
model {
  zero ~ beta(1, 1);
  mu ~ normal(0, scale);
  sigma ~ lognormal(0, 1);
  for (i in 1 : n) {
    target += weights[i] * term[i];
  }
}
generated quantities {
  vector[n] log_lik = term;
  vector[n] x_rep;
  for (i in 1 : n) {
    x_rep[i] = bernoulli_rng(zero) ? 0 : lognormal_rng(mu, sigma);
  }
}
