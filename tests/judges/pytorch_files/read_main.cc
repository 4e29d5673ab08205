// read_pytorch_file FILE [OUT.safetensors]: reads every tensor of a file of torch.save as a model
// is read, and writes them as heed has them. Prints the most memory that it had, as Linux counts
// it. What is refused is said on standard error, and the status is 1.
#include <fstream>
#include <iostream>

#include "heed/base/error.h"
#include "heed/io/pytorch/pytorch_file.h"

namespace {

void read(const char* path, const char* out) {
  const auto file = heed::io::PyTorchFile::open(path);
  std::vector<heed::io::NamedTensor> tensors;
  for (const std::string& name : file->names()) {
    const heed::Tensor tensor = file->get(name);
    if (out != nullptr) tensors.push_back({name, tensor});
  }
  if (out != nullptr) heed::io::write_safetensors(out, tensors, {});
}

void print_peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM")) std::cout << line << '\n';
}

}  // namespace

int main(int count, char** arguments) {
  int result = 0;
  try {
    read(arguments[1], count > 2 ? arguments[2] : nullptr);
  } catch (const heed::Error& error) {
    std::cerr << error.what() << '\n';
    result = 1;
  }
  print_peak_memory();
  return result;
}
