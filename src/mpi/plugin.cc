// MPI for heed (distribute/mpi_plugin.h): the few functions that its messages need.
// The C interface alone, not the C++ one that MPI has dropped.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "heed/distribute/mpi_plugin.h"

namespace {

#ifdef OPEN_MPI
constexpr const char* kName = "Open MPI";
#else
constexpr const char* kName = "MPICH";
#endif

/// To be called before MPI is started. A user's own settings stay.
void choose_settings() {
#ifdef OPEN_MPI
  // With "put", its default, a connection carries a large message to its end before what goes the
  // other way: ranks that exchange messages get half the rate of a full-duplex link.
  setenv("OMPI_MCA_btl_tcp_flags", "send,inplace", 0);
  // The receiver's permission to send a large message travels on the connection that carries its
  // own message: behind a long buffer it arrives when that message is over, and the two directions
  // take turns.
  setenv("OMPI_MCA_btl_tcp_sndbuf", "65536", 0);
#endif
}

/// Returns 1 after writing what MPI says about `code`, and 0 if it is no error.
int check(int code, const char* what, char* error) {
  if (code == MPI_SUCCESS) return 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::snprintf(error, HEED_MPI_ERROR_BYTES, "%s: %.400s", what, text);
  return 1;
}

int start(int* rank, int* size, char* host, char* error) {
  int provided = 0, length = 0;
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  choose_settings();
  if (check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread",
            error))
    return 1;
  if (provided < MPI_THREAD_FUNNELED) {
    std::snprintf(error, HEED_MPI_ERROR_BYTES, "it was built without support for threads");
    return 1;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (check(MPI_Comm_rank(MPI_COMM_WORLD, rank), "MPI_Comm_rank", error) ||
      check(MPI_Comm_size(MPI_COMM_WORLD, size), "MPI_Comm_size", error) ||
      check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name", error))
    return 1;
  std::snprintf(host, HEED_MPI_HOST_BYTES, "%.*s", HEED_MPI_HOST_BYTES - 1, name);
  return 0;
}

/// A request of MPI is a pointer or an int, so it is kept on the heap.
int keep(int code, const char* what, MPI_Request request, void** kept, char* error) {
  if (check(code, what, error)) return 1;
  *kept = new (std::nothrow) MPI_Request(request);
  if (*kept != nullptr) return 0;
  std::snprintf(error, HEED_MPI_ERROR_BYTES, "out of memory");
  return 1;
}

void forget(void** request) {
  delete static_cast<MPI_Request*>(*request);
  *request = nullptr;
}

int send(const void* bytes, size_t count, int to, int tag, void** request, char* error) {
  MPI_Request under_way = MPI_REQUEST_NULL;
  const int code =
      MPI_Isend(bytes, static_cast<int>(count), MPI_BYTE, to, tag, MPI_COMM_WORLD, &under_way);
  return keep(code, "MPI_Isend", under_way, request, error);
}

int receive(void* bytes, size_t count, int from, int tag, void** request, char* error) {
  MPI_Request under_way = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(bytes, static_cast<int>(count), MPI_BYTE,
                             from < 0 ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD, &under_way);
  return keep(code, "MPI_Irecv", under_way, request, error);
}

int test(void** request, int* done, char* error) {
  if (check(MPI_Test(static_cast<MPI_Request*>(*request), done, MPI_STATUS_IGNORE), "MPI_Test",
            error))
    return 1;
  if (*done) forget(request);
  return 0;
}

void cancel(void** request) {
  MPI_Cancel(static_cast<MPI_Request*>(*request));
  MPI_Wait(static_cast<MPI_Request*>(*request), MPI_STATUS_IGNORE);
  forget(request);
}

void finish() { MPI_Finalize(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const heed_mpi_plugin* heed_open_mpi_plugin() {
  static constexpr heed_mpi_plugin plugin{.version = HEED_MPI_PLUGIN_VERSION,
                                          .name = kName,
                                          .start = start,
                                          .send = send,
                                          .receive = receive,
                                          .test = test,
                                          .cancel = cancel,
                                          .finish = finish};
  return &plugin;
}
