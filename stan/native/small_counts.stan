// Declared here, defined with its analytic gradient in small_counts.hpp; the portable form documents it.
real small_counts(vector expected, data matrix polynomial);
