// probabilities (points, bins) of the outcome's bins at linear predictors eta
matrix outcome_bins(data int kind, vector eta, real spread, data vector edges, data vector at, data vector at_other,
                    data vector log_weight, data array[] int bin) {
  int points = num_elements(eta);
  int nodes = num_elements(at);
  int bins = num_elements(edges) + 1;
  matrix[points, bins] p;
  matrix[points, nodes] log_density;
  matrix[nodes, bins] collect = rep_matrix(0, nodes, bins);
  if (kind == 1) {
    vector[points] below = rep_vector(0, points);
    for (k in 1:(bins - 1)) {
      vector[points] upto = Phi((edges[k] - eta) / spread);
      p[, k] = upto - below;
      below = upto;
    }
    p[, bins] = 1 - below;
    return p;
  }
  if (kind == 2 || kind == 3) {
    // keeps both shapes above 0 far beyond the bounds
    vector[points] mean = 1e-9 + (1 - 2e-9) * inv_logit(eta);
    vector[points] a = spread * mean;
    vector[points] b = spread * (1 - mean);
    log_density = a * at' + b * at_other' + rep_matrix(lgamma(spread) - lgamma(a) - lgamma(b), nodes);
  } else if (kind == 4) {
    log_density = rep_matrix(spread * at', points) - (spread * exp(-eta)) * at_other'
                  + rep_matrix(spread * log(spread) - lgamma(spread) - spread * eta, nodes);
  } else if (kind == 5) {
    log_density = eta * at' - rep_matrix(exp(eta), nodes);
  } else {
    vector[points] excess = log1p(spread * exp(eta));
    log_density = (eta - excess) * at' - rep_matrix(excess / spread, nodes)
                  + rep_matrix(cumulative_sum(log1p(spread * at_other))', points);
  }
  for (j in 1:nodes) {
    collect[j, bin[j]] = 1;
  }
  p = exp(log_density + rep_matrix(log_weight', points)) * collect;
  if (kind >= 5) {
    p[, bins] = p[, bins] + (1 - p * rep_vector(1, bins));
  } else {
    p = p + 1e-12;
    p = diag_pre_multiply(inv(p * rep_vector(1, bins)), p);
  }
  return p;
}
// Probabilities of the cells of a table of an outcome by bins of a normal predictor, column by column.
// Given the predictor x, the outcome has the linear predictor at_zero + slope * x. In each bin of the predictor, from point
// first to point last, the probability is averaged over the points. The end bins of both variables are open. For kind 1 the
// spread is the standard deviation, and the edges are those of the outcome's bins. For others, its density or mass at the nodes
// is exp(log_weight) times a function of at, at_other and the parameters, and bin is the bin of each node.
vector outcome_table(data int kind, real at_zero, real slope, real spread, real x_mean, real x_sd, data vector x,
                     data vector x_log_weight, data array[] int first, data array[] int last, data vector x_edges,
                     data vector edges, data vector at, data vector at_other, data vector log_weight, data array[] int bin) {
  int bins = num_elements(edges) + 1;
  int rows = num_elements(first);
  matrix[num_elements(x), bins] inside = outcome_bins(kind, at_zero + slope * x, spread, edges, at, at_other, log_weight, bin);
  vector[num_elements(x)] log_density = x_log_weight - 0.5 * square((x - x_mean) / x_sd);
  matrix[rows, bins] p;
  real below = 0;
  for (r in 1:rows) {
    real upto = r == rows ? 1 : Phi((x_edges[r] - x_mean) / x_sd);
    p[r] = (upto - below) * (softmax(log_density[first[r]:last[r]])' * inside[first[r]:last[r]]);
    below = upto;
  }
  return to_vector(p);
}
