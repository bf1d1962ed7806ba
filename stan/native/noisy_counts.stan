// Declared here, defined with its analytic gradient in noisy_counts.hpp; the portable form documents it.
real noisy_counts(vector expected, data vector noisy, data real noise_variance, data array[] int large_cell,
                  data array[] int small_cell, data matrix polynomial);
