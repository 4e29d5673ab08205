#pragma once

#include <cstddef>

/// What heed needs of MPI, without C++ in the interface. Open MPI and MPICH differ in their binary
/// interface, so src/mpi/plugin.cc is compiled with each, and heed opens the one whose launcher
/// started the process.

constexpr int HEED_MPI_PLUGIN_VERSION = 1;
constexpr int HEED_MPI_ERROR_BYTES = 512;
constexpr int HEED_MPI_HOST_BYTES = 64;

/// A plug-in's function heed_open_mpi_plugin() returns this. Functions return 0, or 1 after they
/// have written a message of at most HEED_MPI_ERROR_BYTES into `error`. One thread makes all calls.
struct heed_mpi_plugin {
  int version;       // HEED_MPI_PLUGIN_VERSION
  const char* name;  // "Open MPI" or "MPICH"

  /// `host` gets the name of this process's host.
  int (*start)(int* rank, int* size, char* host, char* error);
  int (*send)(const void* bytes, size_t count, int to, int tag, void** request, char* error);
  /// From any rank if `from` is negative.
  int (*receive)(void* bytes, size_t count, int from, int tag, void** request, char* error);
  /// Sets *done to 1 and frees the request once the message has been sent or received.
  int (*test)(void** request, int* done, char* error);
  /// Gives up receiving.
  void (*cancel)(void** request);
  void (*finish)();
};
