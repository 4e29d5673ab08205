#pragma once

/// A function that kernels call, and so does the host.
#ifdef __CUDACC__
#define HEED_HOST_DEVICE __host__ __device__
#else
#define HEED_HOST_DEVICE
#endif
