data {
  int<lower=0> n;
  vector[n] x;
  vector<lower=0>[n] weights;
  int<lower=1> p;
  matrix[n, p] design;
}
parameters {
  vector[p] beta;
  real<lower=0> sigma;
}
model {
  beta ~ normal(0, 5);
  sigma ~ lognormal(0, 1);
  for (i in 1:n) {
    target += weights[i] * gumbel_lpdf(x[i] | design[i] * beta, sigma);
  }
}
generated quantities {
  vector[n] log_lik;
  vector[n] log_cdf;
  vector[n] x_rep;
  for (i in 1:n) {
    log_lik[i] = gumbel_lpdf(x[i] | design[i] * beta, sigma);
    log_cdf[i] = gumbel_lcdf(x[i] | design[i] * beta, sigma);
    x_rep[i] = gumbel_rng(design[i] * beta, sigma);
  }
}
