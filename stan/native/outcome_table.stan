// Declared here, defined with its analytic gradient in outcome_table.hpp; the portable form documents it.
vector outcome_table(data int kind, real at_zero, real slope, real spread, real x_mean, real x_sd, data vector x,
                     data vector x_log_weight, data array[] int first, data array[] int last, data vector x_edges,
                     data vector edges, data vector at, data vector at_other, data vector log_weight, data array[] int bin);
