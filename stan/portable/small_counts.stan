// Log probability of small noisy counts given their expected counts m, up to a constant: a count has the probability
// exp(-m) sum_j polynomial[, j + 1] m^j. A polynomial overflows only if the expected count of such a cell is above thousands.
real small_counts(vector expected, data matrix polynomial) {
  int degree = cols(polynomial) - 1;
  vector[num_elements(expected)] value = polynomial[, degree + 1];
  for (j in 1:degree) {
    value = value .* expected + polynomial[, degree + 1 - j];
  }
  return is_inf(max(value)) ? negative_infinity() : sum(log(value)) - sum(expected);
}
