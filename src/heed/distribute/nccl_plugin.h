#pragma once

#include <cstddef>

/// What heed needs of NCCL and CUDA, without C++ in the interface. src/nccl/plugin.cc is compiled
/// where they are, and heed opens it when a run asks for it.

constexpr int HEED_NCCL_PLUGIN_VERSION = 1;
constexpr int HEED_NCCL_ERROR_BYTES = 512;
/// The bytes of NCCL's ncclUniqueId.
constexpr int HEED_NCCL_ID_BYTES = 128;
/// Communicators of a rank. Each carries one exchange at a time, beside those of the others.
constexpr int HEED_NCCL_CHANNELS = 4;
/// The most that an exchange sends, and the most that it receives.
constexpr size_t HEED_NCCL_MOST_BYTES = size_t{8} << 20;

/// Bytes that a rank sends to one rank while it receives others from one. There may be none to send
/// or none to receive. Both ranks know how many they are.
struct heed_nccl_exchange {
  const void* out;
  size_t out_bytes;
  int to;
  void* in;
  size_t in_bytes;
  int from;
};

/// A plug-in's function heed_open_nccl_plugin() returns this. Functions return 0, or 1 after they
/// have written a message of at most HEED_NCCL_ERROR_BYTES into `error`. None waits for another
/// rank, but for close(). Calls may come from several threads, one after the other.
struct heed_nccl_plugin {
  int version;  // HEED_NCCL_PLUGIN_VERSION

  /// Chooses the GPU of a rank, the `local_rank`th of those on its host, and gets its memory. With
  /// fewer GPUs than ranks the numbers begin again.
  int (*open)(int local_rank, void** connection, char* error);
  /// Makes the id of a communicator: HEED_NCCL_ID_BYTES.
  int (*make_id)(void* id, char* error);
  /// Begins to connect a channel with those of the ranks that have the same id.
  int (*connect)(void* connection, int channel, const void* id, int rank, int size, char* error);
  /// Begins an exchange; its bytes stay in place until it is over.
  int (*exchange)(void* connection, int channel, const heed_nccl_exchange* exchange, char* error);
  /// Sets *done to 1 once what was begun on the channel is over, to 0 before.
  int (*test)(void* connection, int channel, int* done, char* error);
  /// Ends the connection: if all ranks have `finished`, after all bytes have arrived, otherwise at
  /// once.
  void (*close)(void* connection, int finished);
};
