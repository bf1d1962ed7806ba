// Declared here, defined with its analytic gradient in clipped_sum.hpp; the portable form says what it computes.
real clipped_sum(matrix terms, array[] int group, matrix coefficients, real threshold);
