// Declared here, defined with its analytic gradient in normal_table.hpp; the portable form documents it.
vector normal_table(real at_zero, real slope, real own, real x_mean, real x_sd, data vector x, data vector x_log_weight,
                    data array[] int first, data array[] int last, data vector x_edges, data vector edges);
