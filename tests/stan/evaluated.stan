// Variables of all shapes, with random numbers in the data and in the generated quantities.
data {
  int<lower=0> n;
  vector[n] x;
  int<lower=0> fault;
}
transformed data {
  real moved = normal_rng(0, 1);
}
parameters {
  simplex[3] share;
  matrix[2, 3] table;
  real<lower=0> sigma;
}
transformed parameters {
  real middle = share[1] * table[2, 3] + moved;
}
model {
  if (fault == 1) reject("fault 1");
  share ~ dirichlet(rep_vector(5, 3));
  to_vector(table) ~ normal(0, 1);
  sigma ~ lognormal(0, 0.5);
  x ~ normal(middle, sigma);
}
generated quantities {
  vector[n] x_rep;
  real cube[2, n, 3];
  int whole = poisson_rng(3 * sigma);
  real none = not_a_number();
  real endless = negative_infinity();
  print("printed");
  if (fault == 2 && sigma > 1) reject("fault 2");
  for (i in 1:n) {
    x_rep[i] = normal_rng(middle, sigma);
    for (j in 1:2) for (k in 1:3) cube[j, i, k] = table[j, k] * x[i];
  }
}
