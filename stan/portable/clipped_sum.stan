// Sum over records of clip(terms[i] . coefficients[group[i]], -threshold, threshold).
// Clipped records have no gradient: an integer index keeps them out of the differentiated sum.
real clipped_sum(matrix terms, array[] int group, matrix coefficients, real threshold) {
  int n = rows(terms);
  vector[n] value;
  array[n] int inside;
  int n_inside = 0;
  int balance = 0;
  if (rows(coefficients) == 1) {
    value = terms * coefficients[1]';
  } else {
    value = rows_dot_product(terms, coefficients[group]);
  }
  for (i in 1 : n) {
    if (value[i] >= threshold) {
      balance += 1;
    } else if (value[i] <= -threshold) {
      balance -= 1;
    } else {
      n_inside += 1;
      inside[n_inside] = i;
    }
  }
  return sum(value[inside[1 : n_inside]]) + balance * threshold;
}
