// Main function of compiled Stan programs. With the single argument `serve`, it answers many requests in one process: it reads
// requests from standard input and writes answers to standard output. With any other arguments, it is CmdStan. Answers are those
// of CmdStan with `id=1`, bit for bit, because the same functions compute them. `served.py` is the other end.
//
// Request: a line with its kind, the seed, the number of draws, and the lengths of three texts in bytes; then these texts: names,
// the data as JSON, and the start. Kinds:
// - `fit`: `sample algorithm=hmc engine=nuts metric=dense_e`. The line also has the number of warm-up iterations, the thinning,
//   the tree depth and the target acceptance rate. The names are the variables to keep, and the start is a point as JSON. Draws
//   are rounded to the 14 digits that `sig_figs=14` writes.
// - `point`: `sample algorithm=hmc engine=static`, with steps that do not move. The start is a point as JSON; there are no names.
// - `generate`: `generate_quantities`. The names are those of all elements of the parameters, and the start is their draws,
//   column by column as doubles.
// Answer: a line with the number of draws, the number of columns, and the length of names in bytes; then, for each variable, the
// name of its last element, which contains its sizes, and the values row by row as doubles. If a request fails in any way, the
// answer is `failed`, and the caller runs CmdStan, which reports the reason.
#include <stan/model/gradient.hpp>
#include <stan/model/model_base.hpp>
#include <sstream>

// Stan constructs a stream for the messages of each gradient, which takes a sixth of a fit. This one is used again. The
// specialization must come before the sampler, which calls it.
namespace stan {
namespace model {
template <>
void gradient<model_base>(const model_base& model, const Eigen::Matrix<double, Eigen::Dynamic, 1>& x, double& f,
                          Eigen::Matrix<double, Eigen::Dynamic, 1>& grad_f, callbacks::logger& logger) {
  static std::stringstream said;
  const auto pass_on = [&logger] {
    if (said.tellp() > 0) {
      logger.info(said);
      said.str("");
    }
  };
  try {
    stan::math::gradient(model_functional<model_base>(model, &said), x, f, grad_f);
  } catch (const std::exception&) {
    pass_on();
    throw;
  }
  pass_on();
}
}  // namespace model
}  // namespace stan

#include <cmdstan/command.hpp>
#if __has_include(<stan/io/json/json_data.hpp>)
#include <stan/io/json/json_data.hpp>
#else
#include <cmdstan/io/json/json_data.hpp>
#endif
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace served {

#if __has_include(<stan/io/json/json_data.hpp>)
using stan::json::json_data;
#else
using cmdstan::json::json_data;
#endif

const double STANDSTILL = 1e-12;  // step size and integration time
const int DIGITS = 14;
// Powers of ten that a double represents exactly.
const double TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Value that results when a number is written with 14 digits and read again.
double rounded(double value) {
  const double size = std::fabs(value);
  if (!(size > 0) || std::isinf(size))
    return value;
  if (size < 1e-8 || size >= 1e13) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", DIGITS, value);
    return std::strtod(text, nullptr);
  }
  int places = DIGITS - 1 - static_cast<int>(std::floor(std::log10(size)));
  if (size * TEN[places] >= TEN[DIGITS])
    --places;
  else if (size * TEN[places] < TEN[DIGITS - 1])
    ++places;
  // The product and its rounding error together are exact; volatile, so no compiler fuses the product with later operations.
  const volatile double product = size * TEN[places];
  const double error = std::fma(size, TEN[places], -product);
  const double below = std::floor(product), part = product - below;
  bool up = part > 0.5;
  if (part == 0.5)
    up = error > 0 || (error == 0 && std::fmod(below, 2) == 1);
  // An integer below 2^53 divided by an exact power of ten is rounded once, as a decimal number is when it is read.
  return std::copysign((below + up) / TEN[places], value);
}

std::string variable(const std::string& name) { return name.substr(0, name.find('.')); }

// Draws in memory: those of the variables to keep, rounded; if no variables are given, those of all variables, not rounded.
class kept_draws : public stan::callbacks::writer {
 public:
  using stan::callbacks::writer::operator();

  explicit kept_draws(const std::vector<std::string>& wanted) : wanted_(wanted.begin(), wanted.end()) {}

  void operator()(const std::vector<std::string>& names) {
    for (size_t place = 0; place < names.size(); ++place)
      if (wanted_.empty() || wanted_.count(variable(names[place]))) {
        places_.push_back(place);
        if (place + 1 == names.size() || variable(names[place + 1]) != variable(names[place]))
          names_ += (names_.empty() ? "" : ",") + names[place];
      }
  }

  void operator()(const std::vector<double>& state) {
    for (size_t place : places_)
      values_.push_back(wanted_.empty() ? state.at(place) : rounded(state.at(place)));
    ++draws_;
  }

  size_t number() const { return draws_; }

  void send(std::FILE* out) const {
    std::fprintf(out, "draws %zu %zu %zu\n", draws_, places_.size(), names_.size());
    std::fwrite(names_.data(), 1, names_.size(), out);
    std::fwrite(values_.data(), sizeof(double), values_.size(), out);
  }

 private:
  std::set<std::string> wanted_;
  std::vector<size_t> places_;
  std::vector<double> values_;
  std::string names_;
  size_t draws_ = 0;
};

// Ends this process, even in the middle of a fit, as soon as no one waits for its draws.
class end_with_parent : public stan::callbacks::interrupt {
 public:
  void operator()() {
    if (++iterations_ % 10)  // a system call takes as long as a gradient
      return;
    pollfd input = {STDIN_FILENO, 0, 0};
    if (poll(&input, 1, 0) == 1)
      _exit(1);
  }

 private:
  unsigned int iterations_ = 0;
};

struct request {
  std::string kind;
  unsigned int seed;
  int draws, warmup, thin, depth;
  double delta;
  std::string names, data, start;
};

// Read a request from standard input; return false at the end of the input or if the request is incomplete.
bool read(request& asked) {
  std::string line;
  size_t sizes[3];
  if (!std::getline(std::cin, line))
    return false;
  std::istringstream words(line);
  if (!(words >> asked.kind >> asked.seed >> asked.draws >> sizes[0] >> sizes[1] >> sizes[2]))
    return false;
  if (asked.kind == "fit" && !(words >> asked.warmup >> asked.thin >> asked.depth >> asked.delta))
    return false;
  std::string* texts[] = {&asked.names, &asked.data, &asked.start};
  for (int k = 0; k < 3; ++k) {
    texts[k]->resize(sizes[k]);
    if (!std::cin.read(&(*texts[k])[0], sizes[k]))
      return false;
  }
  return true;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

int sample(stan::model::model_base& model, const request& asked, stan::callbacks::logger& logger, kept_draws& draws) {
  std::istringstream text(asked.start);
  json_data start(text);
  end_with_parent interrupt;
  stan::callbacks::writer none;
  if (asked.kind == "point")
    return stan::services::sample::hmc_static_diag_e(model, start, asked.seed, 1, 2.0, 0, asked.draws, 1, false, 0, STANDSTILL,
                                                     0.0, STANDSTILL, interrupt, logger, none, draws, none);
  return stan::services::sample::hmc_nuts_dense_e_adapt(
      model, start, asked.seed, 1, 2.0, asked.warmup, asked.draws * asked.thin, asked.thin, false, 0, 1.0, 0.0, asked.depth,
      asked.delta, 0.05, 0.75, 10.0, 75, 50, 25, interrupt, logger, none, draws, none);
}

int generate(stan::model::model_base& model, const request& asked, stan::callbacks::logger& logger, kept_draws& draws) {
  std::vector<std::string> names;
  model.constrained_param_names(names, false, false);
  Eigen::MatrixXd start(asked.draws, names.size());
  if (names != words_of(asked.names) || asked.start.size() != sizeof(double) * start.size())
    return stan::services::error_codes::DATAERR;
  std::memcpy(start.data(), asked.start.data(), asked.start.size());
  if (!start.allFinite())  // CmdStan does not read these
    return stan::services::error_codes::DATAERR;
  end_with_parent interrupt;
  return stan::services::standalone_generate(model, start, asked.seed, interrupt, logger, draws);
}

// Compute what a request asks for; return true if it ended without an error. CmdStan continues after some errors that a separate
// process would report.
bool compute(const request& asked, kept_draws& draws) {
  std::ostringstream said;
  std::istringstream text(asked.data);
  try {
    json_data data(text);
    std::unique_ptr<stan::model::model_base> model(&new_model(data, asked.seed, &said));
    if (model->num_params_r() == 0)
      return false;
    stan::callbacks::stream_logger logger(said, said, said, said, said);
    const int code = (asked.kind == "generate" ? generate : sample)(*model, asked, logger, draws);
    return code == 0 && draws.number() == static_cast<size_t>(asked.draws) && said.str().find("bad_alloc") == std::string::npos;
  } catch (const std::exception&) {
    return false;
  }
}

int serve() {
  // Text that the program prints must not get between the answers.
  std::FILE* out = fdopen(dup(STDOUT_FILENO), "wb");
  const int nowhere = open("/dev/null", O_WRONLY);
  if (!out || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
    return 1;
  stan::math::init_threadpool_tbb();
  std::fputs("formalsynth serves 2\n", out);
  std::fflush(out);
  request asked;
  while (read(asked)) {
    kept_draws draws(asked.kind == "fit" ? words_of(asked.names) : std::vector<std::string>());
    if (compute(asked, draws))
      draws.send(out);
    else
      std::fputs("failed\n", out);
    if (std::fflush(out))
      return 1;
  }
  return 0;
}

}  // namespace served

int main(int argc, const char* argv[]) {
  try {
    if (argc == 2 && std::string(argv[1]) == "serve")
      return served::serve();
    return cmdstan::command(argc, argv) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
