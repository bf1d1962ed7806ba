// Negative binomial counts with 1 / phi = r: the weighted sum of their log probabilities, without what no parameter changes.
//
// log_mean has an element for each count, or one for all. A count's part is
//   sum over j < y of log1p(j r)  +  y log_mean - (y + 1 / r) log1p(mean r),
// which is that of the Poisson distribution at r = 0, and so for its gradient: nothing grows with phi and cancels. From the
// 16th on, the sum over j is by Stirling's series, whose terms beyond those below are less than 1e-15.

// log1p(z) / z, whose derivative keeps its digits near 0
vector log1p_ratio(vector z) {
  int n = rows(z);
  vector[n] ratio;
  for (i in 1 : n) {
    if (z[i] > 0.015625) {
      ratio[i] = log1p(z[i]) / z[i];
    } else {
      real x = z[i];
      ratio[i] = 1 - x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4 - x * (1.0 / 5 - x * (1.0 / 6
                 - x * (1.0 / 7 - x * (1.0 / 8 - x * (1.0 / 9 - x / 10))))))));
    }
  }
  return ratio;
}
// Of sum over j < count of log1p(j r), up to the same number for all counts, none of them below 16.
vector log_rising(vector count, real r) {
  vector[rows(count)] z = r * count;
  vector[rows(count)] s = r * inv(1 + z);
  vector[rows(count)] s2 = square(s);
  return (count - 0.5) .* log1p(z) + count .* (log1p_ratio(z) - 1)
         + s .* (1.0 / 12 - s2 .* (1.0 / 360 - s2 .* (1.0 / 1260 - s2 .* (1.0 / 1680 - s2 / 1188))));
}
real negative_binomial_sum(array[] int y, vector weight, vector log_mean, real r) {
  int n = size(y);
  vector[n] count = to_vector(y);
  real beyond = 0; // weight of the counts from 16 on
  int first = n + 1; // of them: counts are in rising order
  vector[15] above = rep_vector(0, 15); // weight of the counts above 1, 2, ..., 15
  real total;
  for (i in 1 : n) {
    for (j in 1 : min(y[i] - 1, 15)) {
      above[j] += weight[i];
    }
    if (y[i] >= 16) {
      beyond += weight[i];
      first = min(first, i);
    }
  }
  total = dot_product(above, log1p(r * linspaced_vector(15, 1, 15)));
  if (first <= n) {
    total += dot_product(weight[first : n], log_rising(count[first : n], r)) - beyond * log_rising([16]', r)[1];
  }
  {
    int shared = rows(log_mean) == 1;
    vector[rows(log_mean)] w = shared ? [sum(weight)]' : weight;
    vector[rows(log_mean)] wy = shared ? [dot_product(weight, count)]' : weight .* count;
    vector[rows(log_mean)] mean = exp(log_mean);
    total += dot_product(wy, log_mean - log1p_exp(log_mean + log(r))) - dot_product(w, mean .* log1p_ratio(mean * r));
  }
  return total;
}
