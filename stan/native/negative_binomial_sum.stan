// Declared here, defined with its analytic gradient in negative_binomial_sum.hpp; the portable form documents it.
real negative_binomial_sum(array[] int y, vector weight, vector log_mean, real r);
