#include "heed/distribute/mpi_transport.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <tuple>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/shared_library.h"
#include "heed/distribute/mpi_plugin.h"

namespace heed::distribute {
namespace {

/// Where plug-ins lie: beside the program, as in a build tree; where an installation that was moved
/// has them, relative to the program; where this build is installed.
std::vector<std::filesystem::path> plugin_directories() {
  std::error_code unknown;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  return {program, program / HEED_PLUGINS_FROM_PROGRAM, HEED_PLUGINS};
}

std::string plugin_path(const MpiLibrary& library) {
  for (const auto& directory : plugin_directories())
    if (const auto path = directory / library.plugin; std::filesystem::exists(path))
      return path.string();
  fail(
      "this process was started by a launcher of {}, but heed's plug-in for it, {}, is neither "
      "beside the program nor in {}: install Debian's package {}, or compile it (docs/cluster.md)",
      library.name, library.plugin, HEED_PLUGINS, library.package);
}

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(const MpiLibrary& library)
      : library_({plugin_path(library).c_str()}, "a run on several ranks", library.package) {
    heed_open_mpi_plugin_function* open = nullptr;
    library_.find(open, "heed_open_mpi_plugin");
    mpi_ = open();
    require(mpi_->version == HEED_MPI_PLUGIN_VERSION,
            "{} is of another version of heed: it has interface {}, expected {}", library.plugin,
            mpi_->version, HEED_MPI_PLUGIN_VERSION);
    std::array<char, HEED_MPI_HOST_BYTES> host{};
    check(mpi_->start(&rank_, &size_, host.data(), error_.data()));
    host_ = host.data();
    require(size_ == library.processes,
            "the launcher has started {} processes, but {} has joined {}: it is the launcher of "
            "another MPI library, or of another version",
            library.processes, mpi_->name, size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host() const override { return host_; }

  Request send(int to, int tag, std::span<const std::byte> bytes) override {
    Request request = nullptr;
    check(mpi_->send(bytes.data(), bytes.size(), to, tag, &request, error_.data()));
    return request;
  }

  Request receive(int from, int tag, std::span<std::byte> bytes) override {
    Request request = nullptr;
    check(mpi_->receive(bytes.data(), bytes.size(), from, tag, &request, error_.data()));
    return request;
  }

  bool done(Request& request) override {
    int done = 0;
    check(mpi_->test(&request, &done, error_.data()));
    return done != 0;
  }

  void cancel(Request& request) override { mpi_->cancel(&request); }

  void finish() override { mpi_->finish(); }

 private:
  void check(int code) const { require(code == 0, "{}: {}", mpi_->name, error_.data()); }

  SharedLibrary library_;
  const heed_mpi_plugin* mpi_ = nullptr;
  int rank_ = 0, size_ = 1;
  std::string host_;
  std::array<char, HEED_MPI_ERROR_BYTES> error_{};
};

}  // namespace

std::optional<MpiLibrary> mpi_of_launcher() {
  const MpiLibrary open_mpi{"Open MPI", "heed-mpi-openmpi.so", "heed-openmpi"};
  const MpiLibrary mpich{"MPICH", "heed-mpi-mpich.so", "heed-mpich"};
  // What a launcher sets for each of its processes, and where it says how many these are. Slurm
  // sets PMIX_RANK (srun --mpi=pmix), which Open MPI reads, or PMI_RANK (--mpi=pmi2).
  const std::array<std::tuple<const char*, const char*, const MpiLibrary*>, 4> launchers{
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", &open_mpi},
       {"PMIX_RANK", "SLURM_NTASKS", &open_mpi},
       {"PMI_RANK", "PMI_SIZE", &mpich},
       {"PMI_RANK", "SLURM_NTASKS", &mpich}}};
  for (const auto& [rank, size, library] : launchers) {
    const char *const own = std::getenv(rank), *const processes = std::getenv(size);
    if (!own || !processes) continue;
    MpiLibrary started = *library;
    started.rank = std::atoi(own);
    started.processes = std::atoi(processes);
    return started.processes == 1 ? std::nullopt : std::optional(started);
  }
  return std::nullopt;
}

std::unique_ptr<Transport> mpi_transport(const MpiLibrary& library) {
  return std::make_unique<MpiTransport>(library);
}

}  // namespace heed::distribute
