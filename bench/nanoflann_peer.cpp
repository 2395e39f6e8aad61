// The k nearest others of every point by nanoflann, as a peer of bench_graph:
//   nanoflann_peer K RUNS ROWS COLUMNS FILE LISTS
// FILE holds ROWS x COLUMNS float64, column-major. Writes int32 lists, row after row, to LISTS and prints a JSON line
// with the processor seconds of tree and search on one thread, the least of RUNS.
#include <nanoflann.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

struct cloud {
  size_t rows, columns;
  std::vector<double> x;  // row after row
  size_t kdtree_get_point_count() const { return rows; }
  double kdtree_get_pt(size_t i, size_t j) const { return x[i * columns + j]; }
  template <class BOX>
  bool kdtree_get_bbox(BOX &) const {
    return false;
  }
};

static double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

template <int D>
static void search(const cloud &points, size_t k, std::vector<int32_t> &lists) {
  using tree_type =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, cloud>, cloud, D, uint32_t>;
  tree_type tree(D, points, nanoflann::KDTreeSingleIndexAdaptorParams(20));
  tree.buildIndex();
  std::vector<uint32_t> index(k + 1);
  std::vector<double> distance(k + 1);
  for (size_t i = 0; i < points.rows; i++) {
    tree.knnSearch(&points.x[i * D], k + 1, index.data(), distance.data());
    size_t kept = 0;
    for (size_t s = 0; s <= k && kept < k; s++)
      if (index[s] != i) lists[i * k + kept++] = int32_t(index[s]);
  }
}

int main(int argc, char **argv) {
  if (argc < 7) return 1;
  size_t k = size_t(atoll(argv[1]));
  cloud points{size_t(atoll(argv[3])), size_t(atoll(argv[4])), {}};
  std::vector<double> column(points.rows * points.columns);
  FILE *file = fopen(argv[5], "rb");
  if (!file || fread(column.data(), sizeof(double), column.size(), file) != column.size()) return 1;
  fclose(file);
  points.x.resize(column.size());
  for (size_t i = 0; i < points.rows; i++)
    for (size_t j = 0; j < points.columns; j++) points.x[i * points.columns + j] = column[j * points.rows + i];
  std::vector<int32_t> lists(points.rows * k);
  double least = INFINITY;
  for (long run = 0; run < atol(argv[2]); run++) {
    double start = cpu_seconds();
    if (points.columns == 2)
      search<2>(points, k, lists);
    else
      search<3>(points, k, lists);
    least = std::fmin(least, cpu_seconds() - start);
  }
  printf("{\"cpu\": %.4f}\n", least);
  file = fopen(argv[6], "wb");
  return file && fwrite(lists.data(), sizeof(int32_t), lists.size(), file) == lists.size() && fclose(file) == 0 ? 0 : 1;
}
