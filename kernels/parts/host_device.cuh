// Marks a function that device code, the host and tests share. No header, so that the runtime
// compiler needs none either.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TILEWISE_HOST_DEVICE __host__ __device__
#else
#define TILEWISE_HOST_DEVICE
#endif
