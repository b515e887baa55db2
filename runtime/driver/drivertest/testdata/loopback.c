// A libcuda for tests of the calling side, on machines without a GPU: device memory is host memory, streams do their
// work at once, and two kernels exist, the one of these tests (report) and the one of package device's (scale). It is strict where the driver is: every
// function that needs a context checks that one is current on the calling thread, and that handles belong to it;
// waiting for a stream that captures breaks the capture.
//
// It is written without cuda.h, so that layouts and constants of callers that have the header are compared with a
// second account of them.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int R;
typedef uint64_t ptr;
enum {
  OK = 0, INVALID_VALUE = 1, OOM = 2, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_HANDLE = 400,
  ILLEGAL_STATE = 401, NOT_FOUND = 500, NOT_READY = 600, NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901,
  CAPTURE_WRONG_THREAD = 908,
};
enum { DEVICES = 2, FIRST = 40, SMEM_DEFAULT = 48 << 10, SMEM_OPTIN = 227 << 10, DEPTH = 8 };
static const size_t MEMORY = (size_t)4 << 30;

typedef struct { char name[32]; int max_shared; } function;
typedef struct { char *image; size_t size; uint64_t variable; } module; // every variable is the one
typedef struct node node;
typedef struct { node *first, **end; int nodes, invalid; char *thread; } graph;
typedef struct context context;
typedef struct { context *ctx; int busy; graph *capture; } stream; // busy: that many questions are answered with "not yet"
typedef struct { context *ctx; float ms; } event;
struct context { int dev, refs; stream legacy; };
typedef struct { unsigned id; char pad[4]; union { char size[64]; unsigned dim[3]; } value; } attribute;
typedef struct {
  unsigned gx, gy, gz, bx, by, bz, shared;
  stream *stream;
  attribute *attrs;
  unsigned num;
} config;

static context primary[DEVICES];
static __thread context *stack[DEPTH];
static __thread int depth;
static __thread int captures; // its address stands for the thread
static float now;

static context *current(void) { return depth ? stack[depth - 1] : NULL; }
#define NEED_CONTEXT if (!current()) return INVALID_CONTEXT
// What allocates or waits for everything is refused on a thread that captures.
#define NEED_NO_CAPTURE NEED_CONTEXT; if (captures) return CAPTURE_UNSUPPORTED
#define NEED_STREAM NEED_CONTEXT; if (!s) s = &current()->legacy, s->ctx = current(); if (s->ctx != current()) return INVALID_CONTEXT

R cuInit(unsigned flags) { return flags == 0 ? OK : INVALID_VALUE; }
R cuDriverGetVersion(int *v) { return *v = 13000, OK; }
R cuGetErrorName(R r, const char **s) {
  switch (r) {
    case OOM: return *s = "CUDA_ERROR_OUT_OF_MEMORY", OK;
    case INVALID_VALUE: return *s = "CUDA_ERROR_INVALID_VALUE", OK;
    case NOT_SUPPORTED: return *s = "CUDA_ERROR_NOT_SUPPORTED", OK;
    case 4242: return *s = NULL, INVALID_VALUE; // a code that the driver does not know
  }
  return *s = "CUDA_ERROR_OF_THE_LOOPBACK", OK;
}
R cuGetErrorString(R r, const char **s) {
  if (r == 4242) return *s = NULL, INVALID_VALUE;
  return *s = r == OOM ? "out of memory" : r == NOT_SUPPORTED ? "the loopback library has no such kernel" : "", OK;
}

R cuDeviceGetCount(int *n) { return *n = DEVICES, OK; }
R cuDeviceGet(int *d, int i) { return i < 0 || i >= DEVICES ? INVALID_DEVICE : (*d = i + FIRST, OK); }
R cuDeviceGetName(char *s, int n, int d) {
  if (d < FIRST || n < 16) return INVALID_VALUE;
  strcpy(s, "Loopback GPU 0"), s[13] = '0' + d - FIRST;
  return OK;
}
R cuDeviceTotalMem_v2(size_t *n, int d) { return *n = MEMORY, d < FIRST ? INVALID_VALUE : OK; }
R cuDeviceGetAttribute(int *v, int a, int d) {
  if (d < FIRST) return INVALID_DEVICE;
  switch (a) {
    case 1: return *v = 1024, OK;             // threads a block
    case 16: return *v = 132 - (d - FIRST), OK; // SMs
    case 38: return *v = 60 << 20, OK;        // bytes of L2 cache
    case 39: return *v = 2048, OK;            // threads an SM
    case 75: return *v = 9, OK;               // compute capability
    case 76: return *v = 0, OK;
    case 97: return *v = SMEM_OPTIN, OK;      // bytes of shared memory a block can ask for
  }
  return INVALID_VALUE;
}
R cuDevicePrimaryCtxRetain(context **c, int d) {
  if (d < FIRST || d >= FIRST + DEVICES) return INVALID_DEVICE;
  *c = &primary[d - FIRST];
  (*c)->dev = d, (*c)->refs++;
  return OK;
}
R cuDevicePrimaryCtxRelease_v2(int d) { return --primary[d - FIRST].refs < 0 ? INVALID_CONTEXT : OK; }

// A long call now and then makes Go give the processor away, and the goroutine move to another thread afterwards if
// it is not locked to this one: in the calls that come before those which need the context.
static void dawdle(void) {
  static unsigned calls;
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 64 == 0) usleep(100);
}

// The stack of contexts of a thread.
R cuCtxPushCurrent_v2(context *c) { return dawdle(), depth == DEPTH || !c ? INVALID_VALUE : (stack[depth++] = c, OK); }
R cuCtxPopCurrent_v2(context **c) {
  NEED_CONTEXT;
  depth--;
  if (c) *c = stack[depth];
  return OK;
}
R cuCtxGetCurrent(context **c) { return dawdle(), *c = current(), OK; }
R cuCtxSetCurrent(context *c) {
  dawdle();
  if (!c) return depth = depth ? depth - 1 : 0, OK;
  if (!depth) depth = 1;
  return stack[depth - 1] = c, OK;
}
R cuCtxCreate_v2(context **c, unsigned flags, int d) {
  if (d < FIRST) return INVALID_DEVICE;
  *c = calloc(1, sizeof **c), (*c)->dev = d;
  return cuCtxPushCurrent_v2(*c);
}
R cuCtxDestroy_v2(context *c) {
  if (current() == c) depth--;
  return free(c), OK;
}
R cuCtxGetDevice(int *d) { NEED_CONTEXT; return *d = current()->dev, OK; }
R cuCtxSynchronize(void) { NEED_NO_CAPTURE; return OK; }

// An image is an ELF file, or \x7fELF and a string of names.
R cuModuleLoadData(module **m, const void *image) {
  NEED_NO_CAPTURE;
  const char *b = image;
  if (memcmp(b, "\x7f" "ELF", 4)) return INVALID_IMAGE;
  size_t n = strlen(b);
  if (b[4] == 2) { // 64-bit: the section headers end it
    uint64_t at;
    uint16_t size, count;
    memcpy(&at, b + 0x28, 8), memcpy(&size, b + 0x3a, 2), memcpy(&count, b + 0x3c, 2);
    n = at + (size_t)size * count;
  }
  *m = calloc(1, sizeof **m), (*m)->image = malloc(n), (*m)->size = n;
  memcpy((*m)->image, image, n);
  return OK;
}
R cuModuleUnload(module *m) { NEED_CONTEXT; return free(m->image), free(m), OK; }
R cuModuleGetFunction(function **f, module *m, const char *name) {
  NEED_CONTEXT;
  size_t n = strlen(name);
  for (size_t i = 0; i + n <= m->size; i++) {
    if (memcmp(m->image + i, name, n) || n >= sizeof (*f)->name) continue;
    *f = calloc(1, sizeof **f); // for the life of the process, as the driver's are for the module's
    strcpy((*f)->name, name), (*f)->max_shared = SMEM_DEFAULT;
    return OK;
  }
  return NOT_FOUND;
}
R cuModuleGetGlobal_v2(ptr *p, size_t *size, module *m, const char *name) {
  NEED_CONTEXT;
  size_t n = strlen(name);
  for (size_t i = 0; i + n <= m->size; i++) {
    if (!memcmp(m->image + i, name, n)) return *p = (ptr)&m->variable, *size = sizeof m->variable, OK;
  }
  return NOT_FOUND;
}
R cuFuncGetAttribute(int *v, int a, function *f) {
  NEED_CONTEXT;
  if (!f || a > 8) return INVALID_VALUE;
  return *v = a == 8 ? f->max_shared : a == 0 ? 1024 : 100 + a, OK;
}
R cuFuncSetAttribute(function *f, int a, int v) {
  NEED_CONTEXT;
  return f && a == 8 && v >= 0 && v <= SMEM_OPTIN ? (f->max_shared = v, OK) : INVALID_VALUE;
}
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, function *f, int threads, size_t shared) {
  NEED_CONTEXT;
  if (!f || threads <= 0) return INVALID_VALUE;
  *n = 2048 / threads;
  if (shared && *n > (int)(SMEM_OPTIN / shared)) *n = SMEM_OPTIN / shared;
  return OK;
}
R cuOccupancyMaxActiveClusters(int *n, function *f, const config *c) {
  NEED_CONTEXT;
  if (!f || c->num != 1 || c->attrs->id != 4) return INVALID_VALUE;
  int blocks;
  cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, c->bx * c->by * c->bz, c->shared);
  return *n = 132 * blocks / (c->attrs->value.dim[0] * c->attrs->value.dim[1] * c->attrs->value.dim[2]), OK;
}

R cuMemAlloc_v2(ptr *p, size_t n) {
  NEED_NO_CAPTURE;
  if (!n) return INVALID_VALUE;
  if (n > MEMORY) return OOM;
  return *p = (ptr)aligned_alloc(256, (n + 255) & ~(size_t)255), *p ? OK : OOM;
}
R cuMemFree_v2(ptr p) { NEED_NO_CAPTURE; return free((void *)p), OK; }
R cuMemAllocAsync(ptr *p, size_t n, stream *s) {
  NEED_STREAM;
  if (s->capture) return NOT_SUPPORTED;
  return cuMemAlloc_v2(p, n);
}
R cuMemFreeAsync(ptr p, stream *s) {
  NEED_STREAM;
  return s->capture ? NOT_SUPPORTED : cuMemFree_v2(p);
}
R cuMemHostAlloc(void **p, size_t n, unsigned flags) {
  NEED_NO_CAPTURE;
  if (n > MEMORY) return OOM;
  return flags ? INVALID_VALUE : (*p = malloc(n), OK);
}
R cuMemFreeHost(void *p) { NEED_NO_CAPTURE; return free(p), OK; }
R cuMemcpyHtoD_v2(ptr d, const void *s, size_t n) { NEED_NO_CAPTURE; return memcpy((void *)d, s, n), OK; }
R cuMemcpyDtoH_v2(void *d, ptr s, size_t n) { NEED_NO_CAPTURE; return memcpy(d, (void *)s, n), OK; }
R cuMemcpyDtoD_v2(ptr d, ptr s, size_t n) { NEED_NO_CAPTURE; return memcpy((void *)d, (void *)s, n), OK; }

// Work that a graph replays.
typedef struct { int kind; ptr dst, src; size_t n; unsigned value; } move; // 1, 4: sets elements of so many bytes; 0: copies
struct node { node *next; move move; function *f; config config; attribute attr[2]; uint64_t args[3]; };

static R run_move(const move *m) {
  if (m->kind == 0) memmove((void *)m->dst, (void *)m->src, m->n);
  if (m->kind == 1) memset((void *)m->dst, m->value, m->n);
  for (size_t i = 0; m->kind == 4 && i < m->n; i++) ((unsigned *)m->dst)[i] = m->value;
  return OK;
}
static R record(stream *s, const node *n) {
  node *copy = malloc(sizeof *copy);
  *copy = *n, copy->next = NULL;
  if (copy->config.num) copy->config.attrs = copy->attr;
  *s->capture->end = copy, s->capture->end = &copy->next, s->capture->nodes++;
  return OK;
}
static R queue(stream *s, move m) {
  node n = {.move = m};
  if (s->capture) return record(s, &n);
  return s->busy = 1, run_move(&m);
}
// What looks at a stream, or at host memory of Go, cannot be part of a graph.
static R outside(stream *s) { return s->capture ? (s->capture->invalid = 1, CAPTURE_UNSUPPORTED) : OK; }

R cuMemcpyHtoDAsync_v2(ptr d, const void *h, size_t n, stream *s) {
  NEED_STREAM;
  R r = outside(s);
  return r ? r : queue(s, (move){0, d, (ptr)h, n, 0});
}
R cuMemcpyDtoHAsync_v2(void *h, ptr d, size_t n, stream *s) {
  NEED_STREAM;
  R r = outside(s);
  return r ? r : queue(s, (move){0, (ptr)h, d, n, 0});
}
R cuMemcpyDtoDAsync_v2(ptr d, ptr f, size_t n, stream *s) { NEED_STREAM; return queue(s, (move){0, d, f, n, 0}); }
R cuMemsetD8Async(ptr d, unsigned char v, size_t n, stream *s) { NEED_STREAM; return queue(s, (move){1, d, 0, n, v}); }
R cuMemsetD32Async(ptr d, unsigned v, size_t n, stream *s) { NEED_STREAM; return queue(s, (move){4, d, 0, n, v}); }

R cuStreamCreate(stream **s, unsigned flags) {
  NEED_CONTEXT;
  if (flags > 1) return INVALID_VALUE;
  return *s = calloc(1, sizeof **s), (*s)->ctx = current(), OK;
}
R cuStreamDestroy_v2(stream *s) {
  if (!s) return INVALID_HANDLE;
  NEED_STREAM;
  return free(s), OK;
}
R cuStreamSynchronize(stream *s) { NEED_STREAM; R r = outside(s); return r ? r : (s->busy = 0, OK); }
R cuStreamQuery(stream *s) { NEED_STREAM; R r = outside(s); return r ? r : s->busy ? (s->busy--, NOT_READY) : OK; }
R cuStreamWaitEvent(stream *s, event *e, unsigned flags) { NEED_STREAM; return flags || e->ctx != s->ctx ? INVALID_VALUE : OK; }

R cuEventCreate(event **e, unsigned flags) {
  NEED_CONTEXT;
  return *e = calloc(1, sizeof **e), (*e)->ctx = current(), flags ? INVALID_VALUE : OK;
}
R cuEventDestroy_v2(event *e) { NEED_CONTEXT; return free(e), OK; }
R cuEventRecord(event *e, stream *s) { NEED_STREAM; return e->ctx != s->ctx ? INVALID_HANDLE : (e->ms = now += 1.5f, OK); }
R cuEventSynchronize(event *e) { return current() == e->ctx ? OK : INVALID_CONTEXT; }
R cuEventQuery(event *e) { return current() == e->ctx ? OK : INVALID_CONTEXT; }
R cuEventElapsedTime(float *ms, event *a, event *b) { NEED_CONTEXT; return *ms = b->ms - a->ms, OK; }
// Headers of CUDA 12.8 and newer call it by this name.
R cuEventElapsedTime_v2(float *ms, event *a, event *b) { return cuEventElapsedTime(ms, a, b); }

// The attribute of a launch with an id: 4 is a cluster, 6 a programmatic dependent launch, which the loopback runs in order.
static const attribute *find(const config *c, unsigned id) {
  for (unsigned i = 0; i < c->num; i++) if (c->attrs[i].id == id) return &c->attrs[i];
  return NULL;
}

static R run_kernel(function *f, const config *c, const uint64_t *args) {
  const attribute *cluster = find(c, 4);
  const unsigned *dim = cluster ? cluster->value.dim : (const unsigned[]){1, 1, 1};
  unsigned number = args[1];
  if (!strcmp(f->name, "report")) {
    unsigned out[] = {c->gx, c->gy, c->gz, c->bx, c->by, c->bz, dim[0], dim[1], dim[2], c->shared, number};
    memcpy((void *)args[0], out, sizeof out);
    return number == 4242 ? 4242 : OK;
  }
  if (!strcmp(f->name, "scale")) {
    const float *x = (const float *)args[0];
    float *y = (float *)args[1], a;
    int n;
    memcpy(&a, &args[2], 4), memcpy(&n, (char *)&args[2] + 4, 4);
    for (int i = 0; i < n && i < (int)(c->gx * c->bx); i++) y[i] = a * x[i];
    return OK;
  }
  return NOT_SUPPORTED;
}
R cuLaunchKernelEx(const config *c, function *f, void **params, void **extra) {
  stream *s = c->stream;
  NEED_STREAM;
  unsigned threads = c->bx * c->by * c->bz;
  const attribute *cluster = find(c, 4), *dependent = find(c, 6);
  if (!f || extra || c->num != !!cluster + !!dependent || (dependent && dependent->value.dim[0] != 1) || !c->gx || !c->gy || !c->gz || !threads || threads > 1024) return INVALID_VALUE;
  if ((int)c->shared > f->max_shared || (cluster && c->gx % cluster->value.dim[0])) return INVALID_VALUE;
  node n = {.move.kind = -1, .f = f, .config = *c};
  for (unsigned i = 0; i < c->num; i++) n.attr[i] = c->attrs[i];
  memcpy(n.args, params[0], strcmp(f->name, "scale") ? 16 : 24);
  if (s->capture) return record(s, &n);
  return s->busy = 1, run_kernel(f, c, n.args);
}

// The argument struct of this one is built of single arguments, 8 bytes each: gorgonia.org/cu launches by it.
R cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, stream *s,
    void **params, void **extra) {
  config c = {gx, gy, gz, bx, by, bz, shared, s, NULL, 0};
  return cuLaunchKernelEx(&c, f, params, extra);
}

// A graph that is made ready is the graph with another list of the same nodes' copies.
R cuStreamBeginCapture_v2(stream *s, int mode) {
  NEED_STREAM;
  if (s == &current()->legacy) return CAPTURE_UNSUPPORTED;
  if (mode != 1 || s->capture) return INVALID_VALUE;
  s->capture = calloc(1, sizeof *s->capture), s->capture->end = &s->capture->first, s->capture->thread = (char *)&captures;
  return captures++, OK;
}
static void drop(graph *g) {
  for (node *n = g->first, *next; n; n = next) next = n->next, free(n);
  free(g);
}
R cuStreamEndCapture(stream *s, graph **g) {
  NEED_STREAM;
  if (!s->capture) return ILLEGAL_STATE;
  if (s->capture->thread != (char *)&captures) return CAPTURE_WRONG_THREAD;
  captures--;
  *g = s->capture, s->capture = NULL;
  if (!(*g)->invalid) return OK;
  return drop(*g), *g = NULL, CAPTURE_INVALIDATED;
}
R cuGraphGetNodes(graph *g, void **nodes, size_t *n) { NEED_CONTEXT; return nodes ? INVALID_VALUE : (*n = g->nodes, OK); }
R cuGraphInstantiateWithFlags(graph **e, graph *g, unsigned long long flags) {
  NEED_CONTEXT;
  if (flags) return INVALID_VALUE;
  stream s = {.capture = calloc(1, sizeof **e)};
  s.capture->end = &s.capture->first;
  for (node *n = g->first; n; n = n->next) record(&s, n);
  return *e = s.capture, OK;
}
R cuGraphLaunch(graph *e, stream *s) {
  NEED_STREAM;
  s->busy = e->nodes > 0;
  for (node *n = e->first; n; n = n->next) {
    R r = n->f ? run_kernel(n->f, &n->config, n->args) : run_move(&n->move);
    if (r) return r;
  }
  return OK;
}
R cuGraphDestroy(graph *g) { NEED_CONTEXT; return drop(g), OK; }
R cuGraphExecDestroy(graph *e) { NEED_CONTEXT; return drop(e), OK; }

// A tensor map that holds what it was made of (Plain in tensormap.go).
R cuTensorMapEncodeTiled(uint64_t *m, unsigned type, unsigned rank, void *addr, const uint64_t *dim, const uint64_t *stride,
    const unsigned *box, const unsigned *step, unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill) {
  NEED_CONTEXT;
  if ((uintptr_t)m % 64 || rank < 1 || rank > 5 || interleave || fill) return INVALID_VALUE;
  memset(m, 0, 128);
  m[0] = (ptr)addr, m[1] = type | rank << 8 | swizzle << 16 | (uint64_t)promotion << 24;
  for (unsigned i = 0; i < rank; i++) {
    if (step[i] != 1) return INVALID_VALUE;
    m[2 + i] = dim[i];
    if (i > 0) m[6 + i] = stride[i - 1];
    ((unsigned *)(m + 11))[i] = box[i];
  }
  return OK;
}
