// Posterior of a family's parameters given noisy tables of counts; no record enters, only what may be published.
//
// A table counts the records by bin of the outcome and bin of one predictor; without predictors there is one row. Cell counts
// are Poisson around total * probability, and the noise adds its own variance. Small noisy counts have the exact likelihood of
// both, a polynomial in the expected count; all others a normal one. The number of records is unknown: `total` is a parameter.
// The end bins are open.
//
// The predictor is normal with its own mean and standard deviation, on a scale on which the declared bounds are -1 and 1, and
// is integrated inside each bin by quadrature. The outcome's probabilities are differences of distribution functions for the
// normal family, sums of the probability mass for counts, and a quadrature of the density otherwise: smooth in the parameters
// everywhere, unlike derivatives of the incomplete beta and gamma functions.
//
// kind: 1 normal, 2 Beta, 3 Beta regression, 4 gamma regression, 5 Poisson, 6 and 7 negative binomial without and with predictors.
functions {
  // probabilities (rows, bins) at linear predictors eta; spread as in the transformed parameters
  matrix cells(int kind, vector eta, real spread, vector edges, vector at, vector at_other, vector log_weight, matrix collect) {
    int rows = num_elements(eta);
    int nodes = num_elements(at);
    int bins = cols(collect);
    matrix[rows, bins] p;
    matrix[rows, nodes] log_density;
    if (kind == 1) {
      vector[rows] below = rep_vector(0, rows);
      for (k in 1:(bins - 1)) {
        vector[rows] upto = Phi((edges[k] - eta) / spread);
        p[, k] = upto - below;
        below = upto;
      }
      p[, bins] = 1 - below;
      return p;
    }
    if (kind == 2 || kind == 3) {
      // both shapes stay above 0 far beyond the bounds
      vector[rows] mean = 1e-9 + (1 - 2e-9) * inv_logit(eta);
      vector[rows] a = spread * mean;
      vector[rows] b = spread * (1 - mean);
      log_density = a * at' + b * at_other' + rep_matrix(lgamma(spread) - lgamma(a) - lgamma(b), nodes);
    } else if (kind == 4) {
      log_density = rep_matrix(spread * at', rows) - (spread * exp(-eta)) * at_other'
                    + rep_matrix(spread * log(spread) - lgamma(spread) - spread * eta, nodes);
    } else if (kind == 5) {
      log_density = eta * at' - rep_matrix(exp(eta), nodes);
    } else {
      vector[rows] excess = log1p(spread * exp(eta));
      log_density = (eta - excess) * at' - rep_matrix(excess / spread, nodes)
                    + rep_matrix(cumulative_sum(log1p(spread * at_other))', rows);
    }
    p = exp(log_density + rep_matrix(log_weight', rows)) * collect;
    if (kind >= 5) {
      p[, bins] = p[, bins] + (1 - p * rep_vector(1, bins));
    } else {
      p = p + 1e-12;
      p = diag_pre_multiply(inv(p * rep_vector(1, bins)), p);
    }
    return p;
  }
}
data {
  int<lower=1, upper=7> kind;
  int<lower=0> q; // predictors
  int<lower=2> bins;
  int<lower=1> rows; // bins of a predictor; 1 without predictors
  array[q == 0 ? 1 : q] matrix[rows, bins] noisy;
  real<lower=0> noise_variance;
  int<lower=0> small; // cells with a small noisy count; cells are numbered table after table, column after column
  array[small] int small_cell;
  array[(q == 0 ? 1 : q) * rows * bins - small] int large_cell;
  int<lower=0> degree;
  matrix[small, degree + 1] polynomial; // P(noisy count | expected count m) = exp(-m) sum_j polynomial[, j + 1] m^j
  vector[bins - 1] edges; // inner edges of the outcome, used by the normal family
  int<lower=0> nodes;
  vector[nodes] at;
  vector[nodes] at_other;
  vector[nodes] log_weight;
  matrix[nodes, bins] collect;
  int<lower=1> points;
  vector[points] x; // points of the quadrature over a predictor, bin after bin, on the scale of the bounds
  vector[points] x_log_weight;
  array[rows] int<lower=1, upper=points> first; // first point of each bin
  array[rows] int<lower=1, upper=points> last;
  vector[q == 0 ? 0 : rows - 1] x_edges;
  vector[q] x_centre; // middle of the declared bounds of each predictor
  vector<lower=0>[q] x_half; // half their distance
  real<lower=0> spread_from; // least value of the spread
  vector<lower=0>[4] prior;
}
transformed data {
  int tables = q == 0 ? 1 : q;
  int p = q + 1;
  int has_spread = kind != 5;
  int hierarchical = kind == 7 ? p : 0;
  int cells_of_table = rows * bins;
  vector[tables * cells_of_table] counts;
  for (t in 1:tables) {
    counts[((t - 1) * cells_of_table + 1):(t * cells_of_table)] = to_vector(noisy[t]);
  }
}
parameters {
  vector[p] theta;
  vector[has_spread] log_spread;
  real log_total;
  vector[q] x_mean;
  vector[q] log_x_sd;
  vector<lower=0>[hierarchical] sd;
  cholesky_factor_corr[hierarchical == 0 ? 1 : hierarchical] correlation_factor;
}
transformed parameters {
  vector[p] coefficient = theta;
  real spread = spread_from + (has_spread ? exp(log_spread[1]) : 1.0);
  real total = exp(log_total);
  if (q > 0) {
    coefficient[2:p] = theta[2:p] ./ x_half;
    coefficient[1] = theta[1] - dot_product(x_centre, coefficient[2:p]);
  }
}
model {
  vector[q] x_sd = exp(log_x_sd);
  vector[tables * cells_of_table] expected;
  for (t in 1:tables) {
    matrix[rows, bins] mu;
    if (q == 0) {
      mu = total * cells(kind, theta, spread, edges, at, at_other, log_weight, collect);
    } else {
      vector[q] slopes = theta[2:p];
      real at_zero = theta[1] + dot_product(slopes, x_mean) - slopes[t] * x_mean[t];
      real others = dot_self(slopes .* x_sd) - square(slopes[t] * x_sd[t]);
      real own = kind == 1 ? sqrt(square(spread) + fmax(others, 0)) : spread;
      vector[points] log_density = x_log_weight - 0.5 * square((x - x_mean[t]) / x_sd[t]);
      matrix[points, bins] inside = cells(kind, at_zero + slopes[t] * x, own, edges, at, at_other, log_weight, collect);
      real below = 0;
      for (r in 1:rows) {
        real upto = r == rows ? 1 : Phi((x_edges[r] - x_mean[t]) / x_sd[t]);
        mu[r] = total * (upto - below) * (softmax(log_density[first[r]:last[r]])' * inside[first[r]:last[r]]);
        below = upto;
      }
    }
    expected[((t - 1) * cells_of_table + 1):(t * cells_of_table)] = to_vector(mu);
  }
  counts[large_cell] ~ normal(expected[large_cell], sqrt(expected[large_cell] + noise_variance));
  if (small > 0) {
    vector[small] at_small = expected[small_cell];
    vector[small] value = polynomial[, degree + 1];
    for (j in 1:degree) {
      value = value .* at_small + polynomial[, degree + 1 - j];
    }
    target += sum(log(value)) - sum(at_small);
  }
  target += log_total; // the prior of the number of records is flat
  x_mean ~ normal(0, 2);
  log_x_sd ~ normal(-0.7, 1);
  // the prior of each family; Jacobians of the logarithms belong to it
  if (kind == 1) {
    real variance = square(spread);
    target += -2 * prior[2] * log_spread[1] - prior[3] / variance;
    target += -p * log_spread[1] - dot_self(coefficient) / (2 * square(prior[1]) * variance);
  } else if (kind == 2) {
    target += log_inv_logit(theta[1]) + log1m_inv_logit(theta[1]);
    target += pareto_lpdf(spread | prior[1], prior[2]) + log_spread[1];
  } else if (kind == 3) {
    coefficient ~ normal(0, prior[1]);
    target += pareto_lpdf(spread | prior[2], prior[3]) + log_spread[1];
  } else if (kind == 4) {
    coefficient ~ normal(0, prior[1]);
    target += gamma_lpdf(spread | prior[2], prior[3]) + log_spread[1];
  } else if (kind == 5 || kind == 6) {
    target += prior[1] * theta[1] - prior[2] * exp(theta[1]);
    if (kind == 6) {
      target += cauchy_lpdf(spread | 0, prior[3]) + log_spread[1];
    }
  } else {
    target += cauchy_lpdf(spread | 0, prior[1]) + log_spread[1];
    sd ~ student_t(prior[3], 0, prior[4]);
    correlation_factor ~ lkj_corr_cholesky(prior[2]);
    coefficient ~ multi_normal_cholesky(rep_vector(0, p), diag_pre_multiply(sd, correlation_factor));
  }
}
