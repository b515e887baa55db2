package cuda

import (
	"fmt"
	"strings"
	"time"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/internal/waitfor"
)

// The watchdog is a third printing: waits have a bound. Each warp notes in shared memory where it waits. The first warp
// of a block that waits for longer than the bound copies the notes of all its warps, with the state of what they wait
// for, into memory of the host, gives the other blocks time to do the same, and traps. The hardware has no bound for
// barriers of warps: there the warps count themselves first, and come to the barrier when all are there.

// PrintWatched is Print with a watchdog, and its sites. The bound is no part of the text: the runtime sets it, in the
// variable waitfor.Limits.
func PrintWatched(k *thr.Kernel, o Options) (string, []waitfor.Site, error) {
	p := newPrinter(k, o)
	p.watch = true
	text, err := p.kernel()
	return text, p.sites, err
}

// watchdogPause is how long the warp that reports waits for the others of its block to have seen that it does.
const watchdogPause = 2 * time.Millisecond

// watchdogPrelude follows the prelude. Its names begin with watchdog_, which no other name does.
var watchdogPrelude = fmt.Sprintf(`
// The watchdog: what each warp waits for, and the report of a block in which one waits for too long.
struct watchdog_wait_note { u32 site, bar; u64 want; }; // site 0: the warp runs
struct watchdog_record { u32 site, bar; u64 want, state; };
struct watchdog_report { u32 block, ready, base, come; u64 waited; watchdog_record warp[%[1]d]; };
static_assert(sizeof(watchdog_report) == %[2]d, "size");
struct watchdog_limits_t { watchdog_report* reports; u64 bound, grace, room; }; // ns
static_assert(sizeof(watchdog_limits_t) == %[3]d, "size");
extern "C" {
__constant__ watchdog_limits_t %[4]s;
__device__ u32 watchdog_reported;
}
struct watchdog_block_t {
  u32 base, expired;            // where the kernel's own shared memory begins; whether a warp has reported
  u64 come[%[5]d];                 // warps that have come to the barrier of the block, the named ones, that of the cluster
  u32 cluster_until[%[1]d];        // of come, for a warp that has arrived at the barrier of the cluster
  watchdog_wait_note warp[%[1]d];
};
static_assert(sizeof(watchdog_block_t) == %[7]d, "size");
__shared__ watchdog_block_t watchdog_block;

__device__ __forceinline__ u64 watchdog_now() {
  u64 t;
  asm volatile("mov.u64 %%0, %%globaltimer;" : "=l"(t));
  return t;
}
__device__ __forceinline__ u32 watchdog_at(const volatile void* p) { return (u32)__cvta_generic_to_shared((const void*)p); }
__device__ __forceinline__ void watchdog_begin(const void* smem) { // all threads of the block
  u32* words = (u32*)&watchdog_block;
  for (u32 i = threadIdx.x; i < sizeof(watchdog_block) / 4; i += blockDim.x) words[i] = i == 0 ? watchdog_at(smem) : 0u;
}
__device__ __forceinline__ void watchdog_note(u32 site, const volatile void* bar, u64 want) { // all lanes, as in what follows
  if ((threadIdx.x & 31) != 0) return;
  volatile watchdog_wait_note* note = &watchdog_block.warp[threadIdx.x >> 5];
  note->bar = bar ? watchdog_at(bar) : 0u;
  note->want = want;
  note->site = site;
}
__device__ __forceinline__ void watchdog_expire(u64 waited) {
  u32 lane = threadIdx.x & 31, other = 1, n = 0;
  if (lane == 0) other = atomicExch(&watchdog_block.expired, 1u);
  other = __shfl_sync(0xffffffffu, other, 0);
  if (other != 0) return; // it goes on waiting, for the trap
  if (lane == 0) n = atomicAdd(&watchdog_reported, 1u);
  n = __shfl_sync(0xffffffffu, n, 0);
  for (u64 start = watchdog_now(); watchdog_now() - start < %[8]du;) { // until those who wait have seen it, and ask no more
  }
  if (n < %[4]s.room) {
    volatile watchdog_report* report = &%[4]s.reports[n];
    volatile watchdog_wait_note* note = &watchdog_block.warp[lane];
    u32 bar = note->bar;
    bool phases = bar != 0 && bar - watchdog_at(watchdog_block.come) >= sizeof(watchdog_block.come);
    u64 state = 0;
#if __CUDA_ARCH__ >= 900
    // A live mbarrier shows 0: it is ended first, once.
    u32 group = __match_any_sync(0xffffffffu, bar);
    if (phases && lane == (u32)__ffs((int)group) - 1) asm volatile("mbarrier.inval.shared.b64 [%%0];" :: "r"(bar) : "memory");
    __syncwarp();
#endif
    if (bar != 0) asm volatile("ld.volatile.shared.u64 %%0, [%%1];" : "=l"(state) : "r"(bar));
    report->warp[lane].site = note->site;
    report->warp[lane].bar = bar;
    report->warp[lane].want = note->want;
    report->warp[lane].state = state;
    if (lane == 0) {
      report->block = blockIdx.x;
      report->base = watchdog_block.base;
      report->come = watchdog_at(watchdog_block.come);
      report->waited = waited;
    }
    __threadfence_system();
    __syncwarp();
    if (lane == 0) report->ready = 1;
    __threadfence_system();
  }
  for (u64 start = watchdog_now(); watchdog_now() - start < %[4]s.grace;) {
  }
  asm volatile("trap;");
}
__device__ __forceinline__ void watchdog_late(u64& since) { // after a try in vain; since: when the first was, 0: this is it
  u64 now = watchdog_now();
  if (since == 0) since = now;
  else if (__any_sync(0xffffffffu, now - since > %[4]s.bound)) watchdog_expire(now - since);
  while (*(volatile u32*)&watchdog_block.expired != 0) { // nobody asks what is being read; the trap ends it
  }
}
__device__ __forceinline__ void watchdog_spin(u64& since, u32 site) { // in a loop that asks; site 0: the question has made a note
  if (site != 0) watchdog_note(site, nullptr, 0);
  watchdog_late(since);
}
__device__ __forceinline__ bool watchdog_asked(bool over, u32 site, const void* bar, u64 want) {
  watchdog_note(over ? 0u : site, bar, want);
  return over;
}
__device__ __forceinline__ void watchdog_await(const volatile u64* come, u32 until, u32 site) { // until so many have come
  u64 since = 0;
  while (!__all_sync(0xffffffffu, (int)(*(const volatile u32*)come - until) >= 0)) {
    if (since == 0) watchdog_note(site, come, until);
    watchdog_late(since);
  }
  if (since != 0) watchdog_note(0, nullptr, 0);
}
__device__ __forceinline__ u32 watchdog_come(int bar, int threads) { // the count at which this round is over
  u32 ticket = 0, warps = (u32)threads >> 5;
  if ((threadIdx.x & 31) == 0) ticket = atomicAdd((u32*)&watchdog_block.come[bar], 1u);
  return (__shfl_sync(0xffffffffu, ticket, 0) / warps + 1u) * warps;
}
__device__ __forceinline__ void watchdog_meet(int bar, int threads, u32 site) { // ahead of a barrier
  watchdog_await(&watchdog_block.come[bar], watchdog_come(bar, threads), site);
}
__device__ __forceinline__ void watchdog_cluster_come(int blocks) { // every block counts all warps of the cluster
  u32 lane = threadIdx.x & 31, warps = blockDim.x / 32 * blocks;
  volatile u32* until = &watchdog_block.cluster_until[threadIdx.x >> 5];
  if (lane == 0) *until += warps;
  __syncwarp();
  if (lane < (u32)blocks) {
    u32 peer;
    asm("mapa.shared::cluster.u32 %%0, %%1, %%2;" : "=r"(peer) : "r"(watchdog_at(&watchdog_block.come[%[6]d])), "r"(lane));
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%%0], 1;" :: "r"(peer) : "memory");
  }
}
__device__ __forceinline__ void watchdog_cluster_meet(u32 site) {
  watchdog_await(&watchdog_block.come[%[6]d], *(volatile u32*)&watchdog_block.cluster_until[threadIdx.x >> 5], site);
}
`, waitfor.Warps, waitfor.ReportBytes, waitfor.LimitBytes, waitfor.Limits, waitfor.ClusterBarrier+1, waitfor.ClusterBarrier, waitfor.SharedBytes, watchdogPause.Nanoseconds()) +
	watchdogWait("watchdog_wait", "mbarrier_wait", ".parity", "int", "r") +
	watchdogWait("watchdog_wait_token", "mbarrier_wait_token", "", "i64", "l") +
	watchdogWait("watchdog_wait_cluster", "mbarrier_wait_cluster", ".parity.acquire.cluster", "int", "r") +
	watchdogWait("watchdog_wait_token_cluster", "mbarrier_wait_token_cluster", ".acquire.cluster", "i64", "l")

// watchdogWait is mbarrierWait with a bound.
func watchdogWait(name, of, form, phase, constraint string) string {
	ask := func(instruction string) string { return mbarrierQuestion("      ", instruction+form, constraint) }
	return fmt.Sprintf(device+`void %s(void* bar, %s phase, u32 site) { // %s
  u32 over = 0u;
  for (u64 since = 0;;) {
    if (over == 0u) {
#if __CUDA_ARCH__ >= 900
%s#else
%s#endif
    }
    if (__all_sync(0xffffffffu, over != 0u)) {
      if (since != 0) watchdog_note(0, nullptr, 0);
      return;
    }
    if (since == 0) watchdog_note(site, bar, (u64)phase);
    watchdog_late(since);
  }
}
`, name, phase, of, ask("try_wait"), ask("test_wait"))
}

// site numbers a statement that waits.
func (p *printer) site(s waitfor.Site) string {
	p.sites = append(p.sites, s)
	return fmt.Sprintf("%du", len(p.sites))
}

// watched prints a statement that waits, or that others wait for, with the watchdog's calls around it. It returns false
// for all others.
func (p *printer) watched(s thr.Do, c code) bool {
	if !p.watch {
		return false
	}
	site := waitfor.Site{Fn: s.Fn, Pos: s.Pos, Bar: s.Bar, Threads: p.k.Threads}
	const quiet = "watchdog_note(0u, nullptr, 0);"
	switch s.Fn {
	case thr.MBarWait, thr.MBarWaitToken:
		name := "watchdog_wait"
		if s.Fn == thr.MBarWaitToken {
			name += "_token"
		}
		if s.Bar != nil && s.Bar.Remote {
			name += "_cluster"
		}
		p.line("%s(%s, %s, %s);", name, p.address(thr.Shared, s.Args[0]).text, p.expr(s.Args[1]).text, p.site(site))
	case thr.MBarTest, thr.MBarTestToken, thr.MBarTry, thr.MBarTryToken:
		asked := fmt.Sprintf("watchdog_asked(%s, %s, %s, (u64)%s);", c.text, p.site(site), p.address(thr.Shared, s.Args[0]).text, p.expr(s.Args[1]).at(precUnary))
		if s.Dst != nil {
			asked = p.ref(*s.Dst).text + " = " + asked
		}
		p.line("%s", asked)
	case thr.BlockSync:
		p.line("watchdog_meet(0, %d, %s);", p.k.Threads, p.site(site))
		p.line("%s;", c.text)
	case thr.NamedSync:
		threads, ok := s.Args[1].(thr.Const)
		if !ok {
			p.fail("%v takes a constant number of threads", s.Fn)
		}
		site.Threads = int(threads.Bits)
		p.line("watchdog_meet(%s, %d, %s);", p.expr(s.Args[0]).text, site.Threads, p.site(site))
		p.line("%s;", c.text)
	case thr.NamedArrive:
		p.line("watchdog_come(%s, %s);", p.expr(s.Args[0]).text, p.expr(s.Args[1]).text)
		p.line("%s;", c.text)
	case thr.ClusterSync:
		p.line("watchdog_cluster_come(%d);", p.k.Cluster)
		p.line("watchdog_cluster_meet(%s);", p.site(site))
		p.line("%s;", c.text)
	case thr.ClusterArrive:
		p.line("watchdog_cluster_come(%d);", p.k.Cluster)
		p.line("%s;", c.text)
	case thr.ClusterWait:
		p.line("watchdog_cluster_meet(%s);", p.site(site))
		p.line("%s;", c.text)
	case thr.RegsInc:
		if c, ok := s.Args[0].(thr.Const); ok {
			site.Regs = int(c.Bits)
		}
		p.line("watchdog_note(%s, nullptr, 0);", p.site(site))
		p.line("%s;", c.text)
		p.line("%s", quiet)
	default:
		return false
	}
	return true
}

// watchedLoop prints a loop without a body, which asks until the answer is right.
func (p *printer) watchedLoop(s thr.While) {
	site := "0u"
	if !asks(s.Head) {
		site = p.site(waitfor.Site{Pos: s.Pos})
	}
	p.line("for (u64 watchdog_since = 0;;) {")
	p.nested(s.Head)
	p.line("  if (%s) break;", prefix("!", p.expr(s.Cond)).text)
	p.line("  watchdog_spin(watchdog_since, %s);", site)
	p.line("}")
	p.line("watchdog_note(0u, nullptr, 0);")
}

// asks reports whether one of the statements asks an mbarrier.
func asks(ss []thr.Stmt) bool {
	for _, s := range ss {
		if d, ok := s.(thr.Do); ok && d.Fn >= thr.MBarTest && d.Fn <= thr.MBarTryToken {
			return true
		}
	}
	return false
}

// idle reports whether statements do nothing.
func idle(ss []thr.Stmt) bool {
	for _, s := range ss {
		if _, ok := s.(thr.Comment); !ok {
			return false
		}
	}
	return true
}

// watchdogStart is the first lines of a kernel with a watchdog: the notes are empty before anybody makes one, in all
// blocks that count one another's warps.
func (p *printer) watchdogStart() string {
	var b strings.Builder
	smem, meet := "&watchdog_block", "__syncthreads"
	if p.k.SharedBytes > 0 {
		smem = "smem"
	}
	if p.k.Cluster > 0 {
		meet = "cluster_sync"
	}
	fmt.Fprintf(&b, "  watchdog_begin(%s);\n  %s();\n", smem, meet)
	return b.String()
}
