// Declared here, defined with its analytic gradient in negative_binomial_sum.hpp; the portable form says what it computes.
real negative_binomial_sum(array[] int y, vector weight, vector log_mean, real r);
