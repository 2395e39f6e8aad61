/* Runs a fuzz target over the files of a folder: the corpus as an ordinary test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  uint8_t *bytes = malloc(1 << 20);
  size_t size = bytes ? fread(bytes, 1, 1 << 20, file) : 0;
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  return 1;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  DIR *folder = opendir(arguments[1]);
  if (!folder) {
    fprintf(stderr, "no corpus at %s\n", arguments[1]);
    return 1;
  }
  int replayed = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    char path[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", arguments[1], entry->d_name);
    replayed += replay_file(path);
  }
  closedir(folder);
  printf("%d inputs replayed\n", replayed);
  return replayed > 0 ? 0 : 1;
}
