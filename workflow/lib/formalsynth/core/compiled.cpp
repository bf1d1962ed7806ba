// Loops of compiled.py, which describes their arguments. Arrays are contiguous; inner loops have a fixed length, which compilers
// turn into vector instructions.

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

// On Linux, the form for the processor is chosen when the file is loaded. All forms give the same numbers.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(ONE_FORM)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif
#define INLINE static inline __attribute__((always_inline))

constexpr int POINTS = 16;  // points for which sums are computed at once
constexpr int PART = 128;   // records that are summed before they are added to the total, so that rounding errors stay small
constexpr int ROWS = 64;    // records of a block

template <int RANK>
INLINE void clipped_sums_of(const double *left, int64_t points, const double *right, int64_t records, double threshold, double *sums) {
  for (int64_t start = 0; start < points; start += POINTS) {
    const int present = (int)std::min<int64_t>(POINTS, points - start);
    double factor[RANK][POINTS] = {}, total[POINTS] = {};
    for (int i = 0; i < present; ++i)
      for (int j = 0; j < RANK; ++j) factor[j][i] = left[(start + i) * RANK + j];
    for (int64_t first = 0; first < records; first += PART) {
      double part[POINTS] = {};
      const double *end = right + std::min(first + PART, records) * RANK;
      for (const double *record = right + first * RANK; record < end; record += RANK)
        for (int i = 0; i < POINTS; ++i) {
          double value = factor[0][i] * record[0];
          for (int j = 1; j < RANK; ++j) value += factor[j][i] * record[j];
          value = value < -threshold ? -threshold : value;
          part[i] += value > threshold ? threshold : value;
        }
      for (int i = 0; i < POINTS; ++i) total[i] += part[i];
    }
    std::memcpy(sums + start, total, present * sizeof(double));
  }
}

extern "C" FOR_EACH_PROCESSOR void clipped_sums(const double *left, int64_t points, const double *right, int64_t records, int64_t rank,
                                                double threshold, double *sums) {
  switch (rank) {
    case 1: clipped_sums_of<1>(left, points, right, records, threshold, sums); break;
    case 2: clipped_sums_of<2>(left, points, right, records, threshold, sums); break;
    case 3: clipped_sums_of<3>(left, points, right, records, threshold, sums); break;
  }
}

struct Neighbour {
  double squared;  // distance
  int64_t record;
};

// Count the categories in which each record of a block differs from the query, and return the least count.
INLINE uint8_t differing(const uint8_t *code, const uint8_t *codes, int64_t features, uint8_t *__restrict differ) {
  for (int i = 0; i < ROWS; ++i) differ[i] = 0;
  for (int64_t j = 0; j < features; ++j) {
    const uint8_t own = code[j];
    for (int i = 0; i < ROWS; ++i) differ[i] += codes[j * ROWS + i] != own;
  }
  uint8_t least = UINT8_MAX;
  for (int i = 0; i < ROWS; ++i) least = std::min(least, differ[i]);
  return least;
}

// Compute squared distances in single precision, and return whether one is within the limit.
INLINE bool some_within(const float *query, const float *numbers, int64_t columns, const uint8_t *differ, float limit, float *__restrict squared) {
  for (int i = 0; i < ROWS; ++i) squared[i] = 2.0f * differ[i];
  for (int64_t j = 0; j < columns; ++j)
    for (int i = 0; i < ROWS; ++i) {
      const float difference = numbers[j * ROWS + i] - query[j];
      squared[i] += difference * difference;
    }
  int within = 0;
  for (int i = 0; i < ROWS; ++i) within |= squared[i] <= limit;
  return within != 0;
}

INLINE double squared_distance(const float *query, const float *numbers, int64_t columns, int differ) {
  double squared = 2.0 * differ;
  for (int64_t j = 0; j < columns; ++j) {
    const double difference = (double)numbers[j * ROWS] - query[j];
    squared += difference * difference;
  }
  return squared;
}

// Insert a neighbour in the place of the last one; the neighbours stay sorted.
INLINE void insert(std::vector<Neighbour> &best, Neighbour added) {
  size_t place = best.size() - 1;
  for (; place > 0 && best[place - 1].squared > added.squared; --place) best[place] = best[place - 1];
  best[place] = added;
}

// The limit for distances in single precision exceeds the k-th distance by their rounding error, so that no neighbour is lost.
extern "C" FOR_EACH_PROCESSOR void nearest(const float *query, const uint8_t *code, const int64_t *start, int64_t queries,
                                           const float *numbers, const uint8_t *codes, int64_t records, int64_t columns,
                                           int64_t features, int64_t k, int64_t *index) {
  const int64_t blocks = (records + ROWS - 1) / ROWS;
  const double rounding = 1 + (double)(columns + 8) * FLT_EPSILON, underflow = (double)(columns + 1) * FLT_MIN;
  std::vector<Neighbour> best(k);
  uint8_t differ[ROWS];
  float squared[ROWS];
  for (int64_t q = 0; q < queries; ++q, query += columns, code += features) {
    std::fill(best.begin(), best.end(), Neighbour{std::numeric_limits<double>::infinity(), -1});
    float limit = std::numeric_limits<float>::infinity();
    for (int64_t step = 0; step < blocks; ++step) {
      const int64_t first = (start[q] / ROWS + step) % blocks * ROWS;
      const float *there = numbers + first * columns;
      if (2.0f * differing(code, codes + first * features, features, differ) > limit) continue;
      if (!some_within(query, there, columns, differ, limit, squared)) continue;
      const int present = (int)std::min<int64_t>(ROWS, records - first);
      for (int i = 0; i < present; ++i) {
        if (!(squared[i] <= limit)) continue;
        const double exact = squared_distance(query, there + i, columns, differ[i]);
        if (!(exact < best.back().squared)) continue;
        insert(best, Neighbour{exact, first + i});
        limit = (float)(best.back().squared * rounding + underflow);
      }
    }
    for (int64_t j = 0; j < k; ++j) index[q * k + j] = best[j].record;
  }
}
