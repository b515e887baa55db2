// A libcuda for tests of the calling side: device memory is host memory, a launch reports what it was given, and every
// function that needs a context checks that the right one is current on the calling thread.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int R;
enum { OK = 0, INVALID_VALUE = 1, OOM = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NOT_FOUND = 500, NOT_READY = 600 };

typedef struct { int dev, refs; } context;
typedef struct { int launches; } graph;
typedef struct { context *ctx; int busy; graph *capture; } stream;
typedef struct { context *ctx; float ms; } event;
typedef struct { unsigned id; char pad[4]; union { char size[64]; unsigned dim[3]; } value; } attribute;
typedef struct {
  unsigned gx, gy, gz, bx, by, bz, shared;
  stream *stream;
  attribute *attrs;
  unsigned num;
} config;

static context contexts[2];
static __thread context *current;
static float now;
static int attr_max_shared = 48 << 10;

R cuInit(unsigned flags) { return flags == 0 ? OK : INVALID_VALUE; }
R cuDriverGetVersion(int *v) { return *v = 13000, OK; }
R cuGetErrorName(R r, const char **s) { return *s = r == OOM ? "CUDA_ERROR_OUT_OF_MEMORY" : r == 4242 ? NULL : "CUDA_ERROR_STUB", OK; }
R cuGetErrorString(R r, const char **s) { return *s = r == OOM ? "out of memory" : "", OK; }
R cuDeviceGetCount(int *n) { return *n = 2, OK; }
R cuDeviceGet(int *d, int i) { return i < 0 || i > 1 ? INVALID_DEVICE : (*d = i + 40, OK); }
R cuDeviceGetName(char *s, int n, int d) {
  if (d < 40 || n < 10) return INVALID_VALUE;
  strcpy(s, "Stub GPU 0"), s[9] = '0' + d - 40;
  return OK;
}
R cuDeviceTotalMem_v2(size_t *n, int d) { return *n = (size_t)141 << 30, d < 40 ? INVALID_VALUE : OK; }
R cuDeviceGetAttribute(int *v, int a, int d) { return *v = a * 1000 + d, OK; }
R cuDevicePrimaryCtxRetain(context **c, int d) {
  *c = &contexts[d - 40];
  (*c)->dev = d, (*c)->refs++;
  return OK;
}
R cuDevicePrimaryCtxRelease_v2(int d) { return --contexts[d - 40].refs < 0 ? INVALID_CONTEXT : OK; }
// A long call now and then makes Go give the processor away, and the goroutine move to another thread afterwards if
// it is not locked to this one.
R cuCtxSetCurrent(context *c) {
  static unsigned calls;
  current = c;
  if (++calls % 64 == 0) usleep(100);
  return OK;
}

#define NEED_CONTEXT if (!current) return INVALID_CONTEXT

R cuModuleLoadData(void **m, const void *image) {
  NEED_CONTEXT;
  if (memcmp(image, "\x7f" "ELF", 4)) return 200;
  return *m = strdup((const char *)image), OK;
}
R cuModuleUnload(void *m) { NEED_CONTEXT; return free(m), OK; }
R cuModuleGetFunction(void **f, void *m, const char *name) {
  NEED_CONTEXT;
  char *p = strstr((char *)m, name);
  return p ? (*f = p, OK) : NOT_FOUND;
}
R cuFuncGetAttribute(int *v, int a, void *f) { NEED_CONTEXT; return f ? (*v = a == 8 ? attr_max_shared : 100 + a, OK) : INVALID_VALUE; }
R cuFuncSetAttribute(void *f, int a, int v) { NEED_CONTEXT; return f && a == 8 ? (attr_max_shared = v, OK) : INVALID_VALUE; }
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads, size_t shared) {
  NEED_CONTEXT;
  return f ? (*n = 2048 / threads + (int)(shared >> 10), OK) : INVALID_VALUE;
}
R cuOccupancyMaxActiveClusters(int *n, void *f, const config *c) {
  NEED_CONTEXT;
  if (!f || c->num != 1 || c->attrs->id != 4) return INVALID_VALUE;
  return *n = 1000 * c->attrs->value.dim[0] + 100 * c->gx + c->bx / 32 + (c->shared >> 10), OK;
}
R cuMemAlloc_v2(uint64_t *p, size_t n) {
  NEED_CONTEXT;
  if (n > (1 << 30)) return OOM;
  return *p = (uint64_t)malloc(n), OK;
}
R cuMemFree_v2(uint64_t p) { NEED_CONTEXT; return free((void *)p), OK; }
R cuMemHostAlloc(void **p, size_t n, unsigned flags) {
  NEED_CONTEXT;
  if (n > (1 << 30)) return OOM;
  return flags ? INVALID_VALUE : (*p = malloc(n), OK);
}
R cuMemFreeHost(void *p) { NEED_CONTEXT; return free(p), OK; }
R cuMemcpyHtoD_v2(uint64_t d, const void *s, size_t n) { NEED_CONTEXT; return memcpy((void *)d, s, n), OK; }
R cuMemcpyDtoH_v2(void *d, uint64_t s, size_t n) { NEED_CONTEXT; return memcpy(d, (void *)s, n), OK; }
R cuMemcpyDtoD_v2(uint64_t d, uint64_t s, size_t n) { NEED_CONTEXT; return memcpy((void *)d, (void *)s, n), OK; }
#define NEED_STREAM if (!current || s->ctx != current) return INVALID_CONTEXT
R cuMemcpyHtoDAsync_v2(uint64_t d, const void *h, size_t n, stream *s) { NEED_STREAM; return memcpy((void *)d, h, n), OK; }
R cuMemcpyDtoHAsync_v2(void *h, uint64_t d, size_t n, stream *s) { NEED_STREAM; return memcpy(h, (void *)d, n), OK; }
R cuMemcpyDtoDAsync_v2(uint64_t d, uint64_t f, size_t n, stream *s) { NEED_STREAM; return memcpy((void *)d, (void *)f, n), OK; }
R cuMemsetD8Async(uint64_t d, unsigned char v, size_t n, stream *s) { NEED_STREAM; return memset((void *)d, v, n), OK; }
R cuMemsetD32Async(uint64_t d, unsigned v, size_t n, stream *s) {
  NEED_STREAM;
  for (size_t i = 0; i < n; i++) ((unsigned *)d)[i] = v;
  return OK;
}
R cuStreamCreate(stream **s, unsigned flags) {
  NEED_CONTEXT;
  if (flags != 1) return INVALID_VALUE;
  return *s = calloc(1, sizeof **s), (*s)->ctx = current, OK;
}
R cuStreamDestroy_v2(stream *s) { NEED_STREAM; return free(s), OK; }
R cuStreamSynchronize(stream *s) { NEED_STREAM; return s->busy = 0, OK; }
R cuStreamQuery(stream *s) { NEED_STREAM; return s->busy ? NOT_READY : OK; }
R cuStreamWaitEvent(stream *s, event *e, unsigned flags) { NEED_STREAM; return flags || e->ctx != s->ctx ? INVALID_VALUE : OK; }
R cuEventCreate(event **e, unsigned flags) {
  NEED_CONTEXT;
  return *e = calloc(1, sizeof **e), (*e)->ctx = current, flags ? INVALID_VALUE : OK;
}
R cuEventDestroy_v2(event *e) { NEED_CONTEXT; return free(e), OK; }
R cuEventRecord(event *e, stream *s) { NEED_STREAM; return e->ms = now += 1.5f, OK; }
R cuEventSynchronize(event *e) { return current == e->ctx ? OK : INVALID_CONTEXT; }
R cuEventQuery(event *e) { return current == e->ctx ? (e->ms ? OK : NOT_READY) : INVALID_CONTEXT; }
R cuEventElapsedTime(float *ms, event *a, event *b) { NEED_CONTEXT; return *ms = b->ms - a->ms, OK; }

// The argument struct begins with the address to write the report to, then has a number to return.
R cuLaunchKernelEx(const config *c, void *f, void **params, void **extra) {
  stream *s = c->stream;
  NEED_STREAM;
  if (s->capture) return s->capture->launches++, OK;
  if (!f || extra || c->num > 1) return INVALID_VALUE;
  struct { unsigned *report; unsigned number; } *a = params[0];
  if (a->number == 99) return 4242;
  unsigned report[] = {c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, c->num, c->num ? c->attrs->id : 0,
      c->num ? c->attrs->value.dim[0] : 0, c->num ? c->attrs->value.dim[1] : 0, c->num ? c->attrs->value.dim[2] : 0, a->number};
  memcpy(a->report, report, sizeof report);
  s->busy = 1;
  return OK;
}

// Graphs count launches; a graph that is made ready is the graph, with a reference that is given back.
R cuStreamBeginCapture_v2(stream *s, int mode) {
  NEED_STREAM;
  if (mode != 1 || s->capture) return INVALID_VALUE;
  return s->capture = calloc(1, sizeof *s->capture), OK;
}
R cuStreamEndCapture(stream *s, graph **g) {
  NEED_STREAM;
  if (!s->capture) return 901;
  return *g = s->capture, s->capture = NULL, OK;
}
R cuGraphGetNodes(graph *g, void **nodes, size_t *n) { NEED_CONTEXT; return nodes ? INVALID_VALUE : (*n = g->launches, OK); }
R cuGraphInstantiateWithFlags(graph **e, graph *g, unsigned long long flags) {
  NEED_CONTEXT;
  if (flags) return INVALID_VALUE;
  return *e = malloc(sizeof **e), **e = *g, OK;
}
R cuGraphLaunch(graph *e, stream *s) { NEED_STREAM; return s->busy = e->launches, OK; }
R cuGraphDestroy(graph *g) { NEED_CONTEXT; return free(g), OK; }
R cuGraphExecDestroy(graph *e) { NEED_CONTEXT; return free(e), OK; }
