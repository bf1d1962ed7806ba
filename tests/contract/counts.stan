// Negative binomial regression with parameters of every constrained type.
data {
  int<lower=0> n;
  array[n] int<lower=0> x;
  vector<lower=0>[n] weights;
  int<lower=1> p;
  matrix[n, p] design;
}
parameters {
  vector[p] beta;
  real<lower=0> phi;
  simplex[3] share;
  ordered[2] middle;
  unit_vector[2] direction;
  cholesky_factor_corr[2] factor;
}
transformed parameters {
  vector[n] log_mean = design * beta + share[1] * middle[1] + 0.5 * direction[2] + 0.1 * factor[2, 1];
}
model {
  beta ~ normal(0, 1.5);
  phi ~ gamma(2, 1);
  share ~ dirichlet(rep_vector(5, 3));
  middle ~ normal(0, 1);
  factor ~ lkj_corr_cholesky(2);
  for (i in 1:n) target += weights[i] * neg_binomial_2_log_lpmf(x[i] | log_mean[i], phi);
}
generated quantities {
  vector[n] log_lik;
  vector[n] x_rep;
  for (i in 1:n) {
    log_lik[i] = neg_binomial_2_log_lpmf(x[i] | log_mean[i], phi);
    x_rep[i] = neg_binomial_2_log_rng(log_mean[i], phi);
  }
}
