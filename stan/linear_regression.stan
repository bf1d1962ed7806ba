// Weighted linear regression of y on X from sufficient statistics, under a conjugate prior.
//
// The weighted likelihood prod_i normal(y_i | x_i beta, sigma)^w_i depends on the records only through
// W = sum w, the upper Cholesky factor R of X' diag(w) X / W, theta_hat = R beta_hat and the residual sum of squares.
// Sampling theta = R beta gives axes of equal scale, however collinear X is, so the prior on beta is stated on theta.
//
// Prior: sigma^2 ~ inv_gamma(shape, scale), beta | sigma ~ normal(0, prior_sd * sigma).
data {
  int<lower=1> p;
  real<lower=0> weight_total;
  vector[p] theta_hat;
  matrix[p, p] inverse_factor; // R^-1: beta = R^-1 theta
  real<lower=0> residual_squares;
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
  target += -weight_total * log_sigma
            - (residual_squares + weight_total * dot_self(theta - theta_hat)) / (2 * variance);
}
