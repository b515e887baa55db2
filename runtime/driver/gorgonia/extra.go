//go:build gorgonia && cgo && !nocuda && linux && (amd64 || arm64)

package gorgonia

/*
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// gorgonia.org/cu ends the process where cuInit fails, with little more than a number. C runs before Go.
__attribute__((constructor)) static void gotile_explain(void) {
  CUresult r = cuInit(0);
  if (r == CUDA_SUCCESS) return;
  const char *name = NULL;
  cuGetErrorName(r, &name);
  fprintf(stderr,
      "gotile: built with -tags gorgonia; gorgonia.org/cu ends this program now, since the CUDA driver cannot be used:\n"
      "gotile: cuInit: %s (%d)%s.\n"
      "gotile: built without the tag the same program runs on machines without a GPU, too.\n",
      name ? name : r == CUDA_ERROR_STUB_LIBRARY ? "CUDA_ERROR_STUB_LIBRARY" : "error", (int)r, r == CUDA_ERROR_STUB_LIBRARY ? "; it has found the stub that programs are linked with" : "");
}

// Makes ctx current on the calling thread. 1: gotile_leave must put back what was current before, the context of the
// program's own code, or none; 0: nothing to do; negative: the failure. A context that stays may be left current where
// none was; one that the program may destroy may not.
static int gotile_enter(CUcontext ctx, int stays) {
  CUcontext now;
  CUresult r = cuCtxGetCurrent(&now);
  if (r != CUDA_SUCCESS) return -(int)r;
  if (now == ctx) return 0;
  if (!now && stays) return -(int)cuCtxSetCurrent(ctx);
  r = cuCtxPushCurrent(ctx);
  return r == CUDA_SUCCESS ? 1 : -(int)r;
}

static void gotile_leave(void) {
  CUcontext out;
  cuCtxPopCurrent(&out);
}

// The name of a code, or its description; NULL where the driver does not know it.
static const char *gotile_text(int r, int description) {
  const char *text = NULL;
  CUresult failed = description ? cuGetErrorString((CUresult)r, &text) : cuGetErrorName((CUresult)r, &text);
  return failed ? NULL : text;
}

// A result with a number: handle, address, size.
typedef struct {
  CUresult code;
  uint64_t value;
} gotile_result;

static gotile_result gotile_device_of(void) {
  CUdevice dev = 0;
  CUresult r = cuCtxGetDevice(&dev);
  return (gotile_result){r, (uint64_t)dev};
}

static CUresult gotile_func_set(uintptr_t f, int a, int v) { return cuFuncSetAttribute((CUfunction)f, (CUfunction_attribute)a, v); }

static gotile_result gotile_load(const void *image) {
  CUmodule m = NULL;
  CUresult r = cuModuleLoadData(&m, image);
  return (gotile_result){r, (uintptr_t)m};
}

// The shape of a launch, by value. A cluster of zeros is none.
typedef struct {
  unsigned int grid[3], block[3], cluster[3], shared, dependent;
  uintptr_t stream;
} gotile_shape;

// gotile_config fills in a config and its attributes, of which there are up to two.
static void gotile_config(const gotile_shape *s, CUlaunchConfig *c, CUlaunchAttribute *a) {
  memset(c, 0, sizeof *c), memset(a, 0, 2 * sizeof *a);
  c->gridDimX = s->grid[0], c->gridDimY = s->grid[1], c->gridDimZ = s->grid[2];
  c->blockDimX = s->block[0], c->blockDimY = s->block[1], c->blockDimZ = s->block[2];
  c->sharedMemBytes = s->shared, c->hStream = (CUstream)s->stream;
  c->attrs = a;
  if (s->cluster[0] || s->cluster[1] || s->cluster[2]) {
    a->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a->value.clusterDim.x = s->cluster[0], a->value.clusterDim.y = s->cluster[1], a->value.clusterDim.z = s->cluster[2];
    a++, c->numAttrs++;
  }
  if (s->dependent) {
    a->id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    a->value.programmaticStreamSerializationAllowed = 1;
    c->numAttrs++;
  }
}

static CUresult gotile_launch(uintptr_t f, gotile_shape s, void *args) {
  CUlaunchConfig c;
  CUlaunchAttribute a[2];
  gotile_config(&s, &c, a);
  void *params[] = {args};
  return cuLaunchKernelEx(&c, (CUfunction)f, params, NULL);
}

static gotile_result gotile_max_clusters(uintptr_t f, gotile_shape s) {
  CUlaunchConfig c;
  CUlaunchAttribute a[2];
  gotile_config(&s, &c, a);
  int n = 0;
  CUresult r = cuOccupancyMaxActiveClusters(&n, (CUfunction)f, &c);
  return (gotile_result){r, (uint64_t)n};
}

static gotile_result gotile_alloc_async(size_t n, uintptr_t s) {
  CUdeviceptr p = 0;
  CUresult r = cuMemAllocAsync(&p, n, (CUstream)s);
  return (gotile_result){r, p};
}
static CUresult gotile_free_async(uint64_t p, uintptr_t s) { return cuMemFreeAsync(p, (CUstream)s); }

static gotile_result gotile_alloc_host(size_t n) {
  void *p = NULL;
  CUresult r = cuMemHostAlloc(&p, n, 0);
  return (gotile_result){r, (uintptr_t)p};
}

static CUresult gotile_query(uintptr_t s) { return cuStreamQuery((CUstream)s); }

static CUresult gotile_begin_capture(uintptr_t s) { return cuStreamBeginCapture((CUstream)s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); }
static gotile_result gotile_end_capture(uintptr_t s) {
  CUgraph g = NULL;
  CUresult r = cuStreamEndCapture((CUstream)s, &g);
  return (gotile_result){r, (uintptr_t)g};
}
static gotile_result gotile_graph_nodes(uintptr_t g) {
  size_t n = 0;
  CUresult r = cuGraphGetNodes((CUgraph)g, NULL, &n);
  return (gotile_result){r, n};
}
static gotile_result gotile_instantiate(uintptr_t g) {
  CUgraphExec e = NULL;
  CUresult r = cuGraphInstantiateWithFlags(&e, (CUgraph)g, 0);
  return (gotile_result){r, (uintptr_t)e};
}
static CUresult gotile_graph_launch(uintptr_t e, uintptr_t s) { return cuGraphLaunch((CUgraphExec)e, (CUstream)s); }
static CUresult gotile_graph_destroy(uintptr_t g) { return cuGraphDestroy((CUgraph)g); }
static CUresult gotile_exec_destroy(uintptr_t e) { return cuGraphExecDestroy((CUgraphExec)e); }

// A CUtensorMap has an alignment that Go does not promise: 64, and 128 by the header of CUDA 13.
typedef struct {
  uint64_t dim[5], stride[4];
  uint32_t box[5];
  unsigned int type, rank, swizzle, promotion;
  uint64_t addr;
} gotile_tiled;

static CUresult gotile_encode_tiled(void *out, gotile_tiled t) {
  const cuuint32_t step[5] = {1, 1, 1, 1, 1};
  cuuint64_t dim[5], stride[4];
  CUtensorMap m;
  memset(&m, 0, sizeof m);
  for (int i = 0; i < 5; i++) dim[i] = t.dim[i];
  for (int i = 0; i < 4; i++) stride[i] = t.stride[i];
  CUresult r = cuTensorMapEncodeTiled(&m, (CUtensorMapDataType)t.type, t.rank, (void *)(uintptr_t)t.addr, dim, stride, t.box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)t.swizzle, (CUtensorMapL2promotion)t.promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  memcpy(out, &m, sizeof m);
  return r;
}
_Static_assert(sizeof(CUtensorMap) == 128, "driver.TensorMap has 128 bytes");

#cgo noescape gotile_launch
#cgo noescape gotile_load
#cgo noescape gotile_encode_tiled
#cgo nocallback gotile_launch
#cgo nocallback gotile_graph_launch
#cgo nocallback gotile_enter
#cgo nocallback gotile_leave
#cgo nocallback gotile_query
*/
import "C"

import (
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
	"gorgonia.org/cu"
)

// number is a result of C as a driver.Result.
func number(r C.CUresult) driver.Result { return driver.Result(r) }

// text asks for the name or the description of a code; empty where the driver has none.
func text(r driver.Result, description bool) string {
	which := C.int(0)
	if description {
		which = 1
	}
	s := C.gotile_text(C.int(r), which)
	if s == nil {
		return ""
	}
	return C.GoString(s)
}

// makeCurrent is the C side of context.enter.
func makeCurrent(ctx cu.CUContext, stays bool) int {
	left := C.int(0)
	if stays {
		left = 1
	}
	return int(C.gotile_enter(*(*C.CUcontext)(unsafe.Pointer(&ctx)), left))
}

func putBack() { C.gotile_leave() }

// deviceOf is the CUdevice of the context that is current.
func deviceOf() (uint64, driver.Result) {
	r := C.gotile_device_of()
	return uint64(r.value), number(r.code)
}

// shape is a launch in C's layout.
func shape(l driver.LaunchConfig) C.gotile_shape {
	c := C.gotile_shape{shared: C.uint(l.Shared), stream: C.uintptr_t(l.Stream)}
	if l.Dependent {
		c.dependent = 1
	}
	for i := range 3 {
		c.grid[i], c.block[i], c.cluster[i] = C.uint(l.Grid[i]), C.uint(l.Block[i]), C.uint(l.Cluster[i])
	}
	return c
}

// The calls below are made by a context's methods, with the context current.

func rawLoad(image []byte) (uint64, driver.Result) {
	r := C.gotile_load(unsafe.Pointer(unsafe.SliceData(image)))
	return uint64(r.value), number(r.code)
}

func rawSetAttribute(f driver.Function, a driver.FunctionAttribute, v int) driver.Result {
	return number(C.gotile_func_set(C.uintptr_t(f), C.int(a), C.int(v)))
}

func rawMaxClusters(f driver.Function, l driver.LaunchConfig) (uint64, driver.Result) {
	r := C.gotile_max_clusters(C.uintptr_t(f), shape(l))
	return uint64(r.value), number(r.code)
}

func rawLaunch(f driver.Function, l driver.LaunchConfig, args unsafe.Pointer) driver.Result {
	return number(C.gotile_launch(C.uintptr_t(f), shape(l), args))
}

func rawAllocAsync(bytes int, s driver.Stream) (uint64, driver.Result) {
	r := C.gotile_alloc_async(C.size_t(bytes), C.uintptr_t(s))
	return uint64(r.value), number(r.code)
}

func rawFreeAsync(p driver.Ptr, s driver.Stream) driver.Result {
	return number(C.gotile_free_async(C.uint64_t(p), C.uintptr_t(s)))
}

func rawAllocHost(bytes int) (uint64, driver.Result) {
	r := C.gotile_alloc_host(C.size_t(bytes))
	return uint64(r.value), number(r.code)
}

func rawQuery(s driver.Stream) driver.Result { return number(C.gotile_query(C.uintptr_t(s))) }

func rawBeginCapture(s driver.Stream) driver.Result {
	return number(C.gotile_begin_capture(C.uintptr_t(s)))
}

func rawEndCapture(s driver.Stream) (uint64, driver.Result) {
	r := C.gotile_end_capture(C.uintptr_t(s))
	return uint64(r.value), number(r.code)
}

func rawGraphNodes(g driver.Graph) (uint64, driver.Result) {
	r := C.gotile_graph_nodes(C.uintptr_t(g))
	return uint64(r.value), number(r.code)
}

func rawInstantiate(g driver.Graph) (uint64, driver.Result) {
	r := C.gotile_instantiate(C.uintptr_t(g))
	return uint64(r.value), number(r.code)
}

func rawLaunchGraph(e driver.GraphExec, s driver.Stream) driver.Result {
	return number(C.gotile_graph_launch(C.uintptr_t(e), C.uintptr_t(s)))
}

func rawDestroyGraph(g driver.Graph) driver.Result {
	return number(C.gotile_graph_destroy(C.uintptr_t(g)))
}

func rawDestroyGraphExec(e driver.GraphExec) driver.Result {
	return number(C.gotile_exec_destroy(C.uintptr_t(e)))
}

func rawEncodeTiled(m *driver.TensorMap, t *driver.Tiled) driver.Result {
	c := C.gotile_tiled{_type: C.uint(t.Type), rank: C.uint(len(t.Dim)), swizzle: C.uint(t.Swizzle), promotion: C.uint(t.Promotion), addr: C.uint64_t(t.Addr)}
	for i, n := range t.Dim {
		c.dim[i], c.box[i] = C.uint64_t(n), C.uint32_t(t.Box[i])
	}
	for i, n := range t.Stride {
		c.stride[i] = C.uint64_t(n)
	}
	return number(C.gotile_encode_tiled(unsafe.Pointer(m), c))
}
