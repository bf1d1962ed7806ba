// Declared here, defined with its analytic gradient in clipped_sum.hpp; the portable form documents it.
real clipped_sum(matrix terms, array[] int group, matrix coefficients, real threshold);
