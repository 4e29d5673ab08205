#include "heed/distribute/mpi_transport.h"

#include <array>
#include <cstdlib>
#include <tuple>

#include "heed/base/error.h"
#include "heed/distribute/mpi_plugin.h"
#include "heed/distribute/plugin.h"

namespace heed::distribute {
namespace {

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(const MpiLibrary& library)
      : mpi_(&open_plugin<heed_mpi_plugin>(
            {.name = library.plugin,
             .needed = fmt::format("this process was started by a launcher of {}", library.name),
             .remedy = fmt::format("install Debian's package {}, or compile it (docs/cluster.md)",
                                   library.package),
             .package = library.package},
            "heed_open_mpi_plugin", HEED_MPI_PLUGIN_VERSION)) {
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

  const heed_mpi_plugin* mpi_;
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
