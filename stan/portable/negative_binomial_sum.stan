// Negative binomial counts with 1 / phi = r: the weighted sum of their log probabilities, without terms that are constant.
//
// log_mean has an element for each count, or one for all; the counts are in increasing order. A count contributes
//   sum over j < y of log1p(j r)  +  y log_mean - (y + 1 / r) log1p(mean r),
// which at r = 0 is the Poisson term, with its gradient: no terms grow with phi and cancel. If counts are few and large, the
// sum over j uses Stirling's series from the 16th term on; its terms beyond those below are less than 1e-15.

// log1p(z) / z, with a derivative that is accurate near 0
vector log1p_ratio(vector z) {
  int n = rows(z);
  vector[n] ratio;
  if (min(z) > 0.015625) {
    return log1p(z) ./ z;
  }
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
// Sum over j < count of log1p(j r), up to a constant that is the same for all counts, none of them below 16.
vector log_rising(vector count, real r) {
  vector[rows(count)] z = r * count;
  vector[rows(count)] s = r * inv(1 + z);
  vector[rows(count)] s2 = square(s);
  return (count + r * square(count) - 0.5 * z) .* log1p_ratio(z) - count
         + s .* (1.0 / 12 - s2 .* (1.0 / 360 - s2 .* (1.0 / 1260 - s2 .* (1.0 / 1680 - s2 / 1188))));
}
real negative_binomial_sum(array[] int y, vector weight, vector log_mean, real r) {
  int n = size(y);
  vector[n] count = to_vector(y);
  int near = y[n] <= 16 * n ? max(y[n], 2) : 16;
  vector[near - 1] above; // weight of the counts above 1, 2, ...
  real beyond = 0;
  int i = n;
  real total;
  for (k in 1 : near - 1) {
    while (i > 0 && y[max(i, 1)] > near - k) {
      beyond += weight[i];
      i -= 1;
    }
    above[near - k] = beyond;
  }
  total = dot_product(above, log1p(r * linspaced_vector(near - 1, 1, near - 1)));
  if (y[n] > near) {
    int first = n;
    while (first > 1 && y[max(first - 1, 1)] >= near) {
      first -= 1;
    }
    total += dot_product(weight[first : n], log_rising(count[first : n], r)) - sum(weight[first : n]) * log_rising([near]', r)[1];
  }
  {
    vector[rows(log_mean)] mean = exp(log_mean);
    vector[rows(log_mean)] w;
    vector[rows(log_mean)] wy;
    if (rows(log_mean) == 1) {
      w[1] = sum(weight);
      wy[1] = dot_product(weight, count);
    } else {
      w = weight;
      wy = weight .* count;
    }
    total += dot_product(wy, log_mean - log1p_exp(log_mean + log(r))) - dot_product(w, mean .* log1p_ratio(mean * r));
  }
  return total;
}
