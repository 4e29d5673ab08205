// NCCL for heed (distribute/nccl_plugin.h): ranks exchange bytes through memory of their GPUs.
#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "heed/distribute/nccl_plugin.h"

namespace {

/// Blocks of threads of a kernel. Kernels of all channels run at the same time on any GPU, as they
/// must: each waits for another rank. A few saturate a network.
constexpr int kBlocks = 4;
/// How long close() waits for the last bytes.
constexpr std::chrono::seconds kClosing{10};

static_assert(sizeof(ncclUniqueId) == HEED_NCCL_ID_BYTES);

/// A communicator with memory for the bytes of one exchange, on the host and on the GPU.
struct Channel {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t received = nullptr;
  char *host_out = nullptr, *host_in = nullptr, *device_out = nullptr, *device_in = nullptr;
  heed_nccl_exchange exchange{};
  enum { idle, launching, running } state = idle;
};

struct Connection {
  int device = 0;
  Channel channels[HEED_NCCL_CHANNELS];
};

Channel& channel_of(void* connection, int channel) {
  return static_cast<Connection*>(connection)->channels[channel];
}

/// Returns 1 after writing what CUDA or NCCL says about `code`, and 0 if it is no error.
int check(cudaError_t code, const char* what, char* error) {
  if (code == cudaSuccess) return 0;
  std::snprintf(error, HEED_NCCL_ERROR_BYTES, "%s: %s", what, cudaGetErrorString(code));
  return 1;
}

int check(ncclResult_t code, const char* what, char* error) {
  if (code == ncclSuccess || code == ncclInProgress) return 0;
  const char* details = ncclGetLastError(nullptr);
  std::snprintf(error, HEED_NCCL_ERROR_BYTES, "%s: %s%s%.300s", what, ncclGetErrorString(code),
                details && *details ? ": " : "", details ? details : "");
  return 1;
}

/// All memory is allocated before there are kernels: an allocation would wait for their end.
int open_channel(Channel& channel, char* error) {
  void *host = nullptr, *device = nullptr;
  if (check(cudaStreamCreateWithFlags(&channel.stream, cudaStreamNonBlocking), "cudaStreamCreate",
            error) ||
      check(cudaEventCreateWithFlags(&channel.received, cudaEventDisableTiming), "cudaEventCreate",
            error) ||
      check(cudaMallocHost(&host, 2 * HEED_NCCL_MOST_BYTES), "cudaMallocHost", error) ||
      check(cudaMalloc(&device, 2 * HEED_NCCL_MOST_BYTES), "cudaMalloc", error))
    return 1;
  channel.host_out = static_cast<char*>(host);
  channel.host_in = channel.host_out + HEED_NCCL_MOST_BYTES;
  channel.device_out = static_cast<char*>(device);
  channel.device_in = channel.device_out + HEED_NCCL_MOST_BYTES;
  return 0;
}

int open(int local_rank, void** opened, char* error) {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices == 0) {
    std::snprintf(error, HEED_NCCL_ERROR_BYTES,
                  "this host has no GPU that can be used (%s): every rank needs one, with NVIDIA's "
                  "driver",
                  code == cudaSuccess ? "there is none" : cudaGetErrorString(code));
    return 1;
  }
  auto connection = std::unique_ptr<Connection>(new (std::nothrow) Connection);
  if (!connection) {
    std::snprintf(error, HEED_NCCL_ERROR_BYTES, "out of memory");
    return 1;
  }
  connection->device = local_rank % devices;
  if (check(cudaSetDevice(connection->device), "cudaSetDevice", error)) return 1;
  for (Channel& channel : connection->channels)
    if (open_channel(channel, error)) return 1;
  *opened = connection.release();
  return 0;
}

int make_id(void* id, char* error) {
  return check(ncclGetUniqueId(static_cast<ncclUniqueId*>(id)), "ncclGetUniqueId", error);
}

int connect(void* connection, int number, const void* id, int rank, int size, char* error) {
  // So that no call waits for another rank.
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.maxCTAs = kBlocks;
  ncclUniqueId copy;
  std::memcpy(&copy, id, sizeof(copy));
  if (check(cudaSetDevice(static_cast<Connection*>(connection)->device), "cudaSetDevice", error))
    return 1;
  return check(ncclCommInitRankConfig(&channel_of(connection, number).communicator, size, copy,
                                      rank, &config),
               "ncclCommInitRankConfig", error);
}

int exchange(void* connection, int number, const heed_nccl_exchange* begun, char* error) {
  Channel& channel = channel_of(connection, number);
  channel.exchange = *begun;
  if (check(cudaSetDevice(static_cast<Connection*>(connection)->device), "cudaSetDevice", error))
    return 1;
  if (begun->out_bytes > 0) {
    std::memcpy(channel.host_out, begun->out, begun->out_bytes);
    if (check(cudaMemcpyAsync(channel.device_out, channel.host_out, begun->out_bytes,
                              cudaMemcpyHostToDevice, channel.stream),
              "cudaMemcpyAsync", error))
      return 1;
  }
  // In a group neither waits for the other, which may be the one that its rank can go on with.
  if (check(ncclGroupStart(), "ncclGroupStart", error)) return 1;
  if (begun->in_bytes > 0)
    ncclRecv(channel.device_in, begun->in_bytes, ncclUint8, begun->from, channel.communicator,
             channel.stream);
  if (begun->out_bytes > 0)
    ncclSend(channel.device_out, begun->out_bytes, ncclUint8, begun->to, channel.communicator,
             channel.stream);
  // An error of these two, too. That a rank is gone test() sees.
  const ncclResult_t launched = ncclGroupEnd();
  if (launched != ncclRemoteError && check(launched, "ncclSend, ncclRecv", error)) return 1;
  channel.state = Channel::launching;
  return 0;
}

/// What follows the kernel, once NCCL has put that into the stream.
int copy_to_host(Channel& channel, char* error) {
  if (channel.exchange.in_bytes > 0 &&
      check(cudaMemcpyAsync(channel.host_in, channel.device_in, channel.exchange.in_bytes,
                            cudaMemcpyDeviceToHost, channel.stream),
            "cudaMemcpyAsync", error))
    return 1;
  channel.state = Channel::running;
  return check(cudaEventRecord(channel.received, channel.stream), "cudaEventRecord", error);
}

int test(void* connection, int number, int* done, char* error) {
  Channel& channel = channel_of(connection, number);
  *done = 0;
  ncclResult_t state = ncclSuccess;
  if (check(ncclCommGetAsyncError(channel.communicator, &state), "ncclCommGetAsyncError", error))
    return 1;
  // Which rank is gone heed finds out, when it has waited for this exchange in vain.
  if (state == ncclInProgress || (state == ncclRemoteError && channel.state != Channel::idle))
    return 0;
  if (check(state, "a communicator", error)) return 1;
  if (channel.state == Channel::launching && copy_to_host(channel, error)) return 1;
  if (channel.state == Channel::running) {
    const cudaError_t arrived = cudaEventQuery(channel.received);
    if (arrived == cudaErrorNotReady) {
      cudaGetLastError();  // so that nobody takes it for an error
      return 0;
    }
    if (check(arrived, "cudaEventQuery", error)) return 1;
    if (channel.exchange.in_bytes > 0)
      std::memcpy(channel.exchange.in, channel.host_in, channel.exchange.in_bytes);
    channel.state = Channel::idle;
  }
  *done = 1;
  return 0;
}

/// Whether nothing is left to be sent within kClosing.
bool finish(ncclComm_t communicator) {
  const auto end = std::chrono::steady_clock::now() + kClosing;
  ncclResult_t state = ncclCommFinalize(communicator);
  while (state == ncclInProgress && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ncclCommGetAsyncError(communicator, &state) != ncclSuccess) return false;
  }
  return state == ncclSuccess;
}

/// Memory, streams and events stay until the process ends: freeing them waits for kernels, and a
/// process joins the ranks of a run once.
void close(void* opened, int finished) {
  const std::unique_ptr<Connection> connection(static_cast<Connection*>(opened));
  cudaSetDevice(connection->device);
  for (Channel& channel : connection->channels) {
    if (channel.communicator == nullptr) continue;
    // Neither call waits: the communicator is not a blocking one.
    if (finished && finish(channel.communicator)) {
      ncclCommDestroy(channel.communicator);
    } else {
      ncclCommAbort(channel.communicator);
    }
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const heed_nccl_plugin* heed_open_nccl_plugin() {
  static constexpr heed_nccl_plugin plugin{.version = HEED_NCCL_PLUGIN_VERSION,
                                           .open = open,
                                           .make_id = make_id,
                                           .connect = connect,
                                           .exchange = exchange,
                                           .test = test,
                                           .close = close};
  return &plugin;
}
