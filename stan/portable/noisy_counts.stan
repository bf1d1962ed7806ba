// Log probability of noisy counts given their expected counts m, up to a constant. Large ones are normal with variance
// m + noise_variance. A small one has the probability exp(-m) sum_j polynomial[, j + 1] m^j. A polynomial overflows only if the
// expected count of such a cell is above thousands.
real noisy_counts(vector expected, data vector noisy, data real noise_variance, data array[] int large_cell,
                  data array[] int small_cell, data matrix polynomial) {
  vector[size(large_cell)] variance = expected[large_cell] + noise_variance;
  vector[size(small_cell)] m = expected[small_cell];
  vector[size(small_cell)] value = polynomial[, cols(polynomial)];
  for (j in 1:(cols(polynomial) - 1)) {
    value = value .* m + polynomial[, cols(polynomial) - j];
  }
  if (size(small_cell) > 0 && is_inf(max(value))) {
    return negative_infinity();
  }
  return sum(log(value)) - sum(m) - 0.5 * sum(square(noisy[large_cell] - expected[large_cell]) ./ variance + log(variance));
}
