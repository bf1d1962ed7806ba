// Main function of compiled Stan programs. With the single argument `serve`, it samples many fits in one process: it reads requests
// from standard input and writes answers to standard output. With any other arguments, it is CmdStan. It samples as CmdStan does
// with `sample algorithm=hmc engine=nuts metric=dense_e id=1`, and rounds draws to the 14 digits that `sig_figs=14` writes, so the
// draws are identical, bit for bit. `served.py` is the other end.
//
// Request: a line with the seed, the numbers of warm-up iterations and of draws, the thinning, the target acceptance rate, the tree
// depth, and the lengths of three texts in bytes; then these texts: the variables to keep, and as JSON the data and the starting
// point.
// Answer: a line with the number of draws, the number of columns, and the length of their names in bytes; then the names, and the
// values row by row as doubles. If a fit fails in any way, the answer is `failed`, and the caller runs CmdStan, which reports the
// reason.
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
#include <exception>
#include <iostream>
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

// Draws of the variables to keep, in memory.
class kept_draws : public stan::callbacks::writer {
 public:
  using stan::callbacks::writer::operator();

  explicit kept_draws(const std::set<std::string>& wanted) : wanted_(wanted) {}

  void operator()(const std::vector<std::string>& names) {
    for (size_t place = 0; place < names.size(); ++place)
      if (wanted_.count(names[place].substr(0, names[place].find('.')))) {
        places_.push_back(place);
        names_ += (names_.empty() ? "" : ",") + names[place];
      }
  }

  void operator()(const std::vector<double>& state) {
    for (size_t place : places_)
      values_.push_back(rounded(state.at(place)));
    ++draws_;
  }

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
  unsigned int seed;
  int warmup, draws, thin, depth;
  double delta;
  std::string wanted, data, inits;
};

// Read a request from standard input; return false at the end of the input or if the request is incomplete.
bool read(request& asked) {
  std::string line;
  size_t sizes[3];
  if (!std::getline(std::cin, line))
    return false;
  std::istringstream words(line);
  if (!(words >> asked.seed >> asked.warmup >> asked.draws >> asked.thin >> asked.delta >> asked.depth >> sizes[0] >> sizes[1]
        >> sizes[2]))
    return false;
  std::string* texts[] = {&asked.wanted, &asked.data, &asked.inits};
  for (int k = 0; k < 3; ++k) {
    texts[k]->resize(sizes[k]);
    if (!std::cin.read(&(*texts[k])[0], sizes[k]))
      return false;
  }
  return true;
}

// Run a fit; return true if it ended without an error. CmdStan continues after some errors that a separate process would report.
bool sample(const request& asked, kept_draws& draws) {
  std::ostringstream said;
  std::istringstream data_text(asked.data), init_text(asked.inits);
  try {
    json_data data(data_text), inits(init_text);
    std::unique_ptr<stan::model::model_base> model(&new_model(data, asked.seed, &said));
    if (model->num_params_r() == 0)
      return false;
    end_with_parent interrupt;
    stan::callbacks::stream_logger logger(said, said, said, said, said);
    stan::callbacks::writer none;
    const int code = stan::services::sample::hmc_nuts_dense_e_adapt(
        *model, inits, asked.seed, 1, 2.0, asked.warmup, asked.draws * asked.thin, asked.thin, false, 0, 1.0, 0.0, asked.depth,
        asked.delta, 0.05, 0.75, 10.0, 75, 50, 25, interrupt, logger, none, draws, none);
    return code == 0 && said.str().find("bad_alloc") == std::string::npos;
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
  std::fputs("formalsynth serves 1\n", out);
  std::fflush(out);
  request asked;
  while (read(asked)) {
    std::istringstream names(asked.wanted);
    std::set<std::string> wanted;
    for (std::string name; names >> name;)
      wanted.insert(name);
    kept_draws draws(wanted);
    if (sample(asked, draws))
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
