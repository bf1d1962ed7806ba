// Probabilities of the cells of a table of a normal outcome by bins of a normal predictor, column by column.
// Given the predictor x, the outcome has mean at_zero + slope * x and standard deviation own. In each bin of the predictor,
// from point first to point last, the probability is averaged over the points. The end bins of both variables are open.
vector normal_table(real at_zero, real slope, real own, real x_mean, real x_sd, data vector x, data vector x_log_weight,
                    data array[] int first, data array[] int last, data vector x_edges, data vector edges) {
  int bins = num_elements(edges) + 1;
  int rows = num_elements(first);
  matrix[num_elements(x), bins] inside;
  vector[num_elements(x)] eta = at_zero + slope * x;
  vector[num_elements(x)] log_density = x_log_weight - 0.5 * square((x - x_mean) / x_sd);
  vector[num_elements(x)] below = rep_vector(0, num_elements(x));
  matrix[rows, bins] p;
  real x_below = 0;
  for (k in 1:(bins - 1)) {
    vector[num_elements(x)] upto = Phi((edges[k] - eta) / own);
    inside[, k] = upto - below;
    below = upto;
  }
  inside[, bins] = 1 - below;
  for (r in 1:rows) {
    real x_upto = r == rows ? 1 : Phi((x_edges[r] - x_mean) / x_sd);
    p[r] = (x_upto - x_below) * (softmax(log_density[first[r]:last[r]])' * inside[first[r]:last[r]]);
    x_below = x_upto;
  }
  return to_vector(p);
}
