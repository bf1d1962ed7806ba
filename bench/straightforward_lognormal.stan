// A weighted lognormal regression written the way a paper writes it: a loop over records, and every record's log-likelihood in
// generated quantities. It is used for comparison only.
data {
  int<lower=1> n;
  int<lower=1> p;
  matrix[n, p] design;
  vector<lower=0>[n] x;
  vector<lower=0>[n] weight;
}
parameters {
  vector[p] beta;
  real<lower=0> sigma;
}
model {
  beta ~ normal(0, 100);
  square(sigma) ~ inv_gamma(0.01, 0.01);
  target += log(sigma);
  for (i in 1 : n) {
    target += weight[i] * lognormal_lpdf(x[i] | design[i] * beta, sigma);
  }
}
generated quantities {
  vector[n] log_lik;
  for (i in 1 : n) {
    log_lik[i] = weight[i] * lognormal_lpdf(x[i] | design[i] * beta, sigma);
  }
}
