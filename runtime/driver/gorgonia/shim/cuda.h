// cuda.h as gorgonia.org/cu v0.9.6 wants it: the real one, found further along the include path, and for CUDA 13 the
// signatures of CUDA 12 under the names whose signatures CUDA 13 has changed. The directory of this file comes first in
// CGO_CFLAGS; prepare.sh sees to that.
#include_next <cuda.h>

#ifndef GOTILE_SHIM_CUDA_H
#define GOTILE_SHIM_CUDA_H

#if CUDA_VERSION >= 13000

// The library still has the older form; the header no longer declares it.
#undef cuCtxCreate
#define cuCtxCreate cuCtxCreate_v2
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev);

// A device's number became a location. CU_DEVICE_CPU, which gorgonia.org/cu passes as -1, is the host.
static inline CUmemLocation gotile_location(CUdevice dev) {
  CUmemLocation l = {0};
  l.type = dev < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  l.id = dev < 0 ? 0 : dev;
  return l;
}

static inline CUresult gotile_mem_advise(CUdeviceptr p, size_t n, CUmem_advise advice, CUdevice dev) {
  return cuMemAdvise_v2(p, n, advice, gotile_location(dev));
}
#undef cuMemAdvise
#define cuMemAdvise gotile_mem_advise

static inline CUresult gotile_mem_prefetch(CUdeviceptr p, size_t n, CUdevice dev, CUstream s) {
  return cuMemPrefetchAsync_v2(p, n, gotile_location(dev), 0, s);
}
#undef cuMemPrefetchAsync
#define cuMemPrefetchAsync gotile_mem_prefetch

// Edges of a graph can carry data; the older forms have none.
static inline CUresult gotile_add_dependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n) {
  return cuGraphAddDependencies_v2(g, from, to, NULL, n);
}
#undef cuGraphAddDependencies
#define cuGraphAddDependencies gotile_add_dependencies

static inline CUresult gotile_get_edges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n) {
  return cuGraphGetEdges_v2(g, from, to, NULL, n);
}
#undef cuGraphGetEdges
#define cuGraphGetEdges gotile_get_edges

#endif // CUDA_VERSION
#endif // GOTILE_SHIM_CUDA_H
