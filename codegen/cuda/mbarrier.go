package cuda

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// asyncPrelude is the part of the prelude about mbarriers, bulk copies, named barriers and elections. Shared addresses are 32-bit
// in PTX. Waits spin on try_wait, which suspends the thread for a while, and on test_wait where the chip has no other.
var asyncPrelude = []snippet{
	{"shared_at", device + "u32 shared_at(const void* p) { return (u32)__cvta_generic_to_shared(p); }\n"},
	{"mbarrier_init", device + `void mbarrier_init(void* bar, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared_at(bar)), "r"(arrivals) : "memory");
}
`},
	{"mbarrier_fence", device + `void mbarrier_fence() { // inits are seen by the async proxy and the cluster
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
`},
	{"mbarrier_arrive", device + `i64 mbarrier_arrive(void* bar) {
  i64 token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(shared_at(bar)) : "memory");
  return token;
}
`},
	{"mbarrier_arrive_count", device + `i64 mbarrier_arrive_count(void* bar, int count) {
  i64 token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(token) : "r"(shared_at(bar)), "r"(count) : "memory");
  return token;
}
`},
	{"mbarrier_arrive_expect_tx", device + `void mbarrier_arrive_expect_tx(void* bar, int bytes) {
  asm volatile("{ .reg .b64 token; mbarrier.arrive.expect_tx.shared.b64 token, [%0], %1; }" :: "r"(shared_at(bar)), "r"(bytes) : "memory");
}
`},
	{"mbarrier_expect_tx", device + `void mbarrier_expect_tx(void* bar, int bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;" :: "r"(shared_at(bar)), "r"(bytes) : "memory");
}
`},
	{"mbarrier_test", mbarrierAsk("mbarrier_test", "test_wait.parity", "int", "r")},
	{"mbarrier_test_token", mbarrierAsk("mbarrier_test_token", "test_wait", "i64", "l")},
	{"mbarrier_try", mbarrierAsk("mbarrier_try", "try_wait.parity", "int", "r")},
	{"mbarrier_try_token", mbarrierAsk("mbarrier_try_token", "try_wait", "i64", "l")},
	{"mbarrier_wait", mbarrierWait("mbarrier_wait", ".parity", "int", "r")},
	{"mbarrier_wait_token", mbarrierWait("mbarrier_wait_token", "", "i64", "l")},

	// The same of mbarriers at which other blocks arrive: they acquire what those have released in shared memory, and what
	// the block's own threads have anywhere. An acquire of all that the cluster has released would empty the L1 cache.
	{"mbarrier_acquire", device + `void mbarrier_acquire() {
  asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
  asm volatile("fence.acq_rel.cta;" ::: "memory");
}
`},
	{"mbarrier_test_cluster", mbarrierAsk("mbarrier_test_cluster", "test_wait.parity"+ofPeers, "int", "r")},
	{"mbarrier_test_token_cluster", mbarrierAsk("mbarrier_test_token_cluster", "test_wait"+ofPeers, "i64", "l")},
	{"mbarrier_try_cluster", mbarrierAsk("mbarrier_try_cluster", "try_wait.parity"+ofPeers, "int", "r")},
	{"mbarrier_try_token_cluster", mbarrierAsk("mbarrier_try_token_cluster", "try_wait"+ofPeers, "i64", "l")},
	{"mbarrier_wait_cluster", mbarrierWait("mbarrier_wait_cluster", ".parity"+ofPeers, "int", "r")},
	{"mbarrier_wait_token_cluster", mbarrierWait("mbarrier_wait_token_cluster", ofPeers, "i64", "l")},
	{"mbarrier_arrive_at", arriveAtPTX("mbarrier_arrive_at", "release")},
	{"mbarrier_arrive_relaxed_at", arriveAtPTX("mbarrier_arrive_relaxed_at", "relaxed")},
	{"st_async_f32", storeAsyncPTX("f32", "float", "f")},
	{"st_async_b32", storeAsyncPTX("b32", "u32", "r")},
	{"st_async_b64", storeAsyncPTX("b64", "i64", "l")},
	{"fence_async_global", device + "void fence_async_global() { asm volatile(\"fence.proxy.async.global;\" ::: \"memory\"); }\n"},
	{"fence_shared", device + "void fence_shared() { asm volatile(\"fence.release.sync_restrict::shared::cta.cluster;\" ::: \"memory\"); }\n"},
	{"fence_cluster", device + "void fence_cluster() { asm volatile(\"fence.acq_rel.cluster;\" ::: \"memory\"); }\n"},
	{"fence_loads", device + "void fence_loads() { asm volatile(\"fence.acq_rel.cta;\" ::: \"memory\"); } // loads before are over, not only issued\n"},
	{"launch_dependents", gridDependency("launch_dependents", "launch_dependents")},
	{"wait_prerequisites", gridDependency("wait_prerequisites", "wait")},
	{"mbarrier_track", device + `void mbarrier_track(void* bar) { // one arrival more is pending until the copies are there
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(shared_at(bar)) : "memory");
}
`},
	{"mbarrier_inval", device + `void mbarrier_inval(void* bar) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(shared_at(bar)) : "memory");
}
`},
	{"bulk_load", device + `void bulk_load(void* to, const void* from, int bytes, void* bar) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(shared_at(to)), "l"(from), "r"(bytes), "r"(shared_at(bar)) : "memory");
}
`},
	{"bulk_store", device + `void bulk_store(void* to, const void* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(shared_at(from)), "r"(bytes) : "memory");
}
`},
	{"tensor_map", "struct __align__(64) tensor_map { u64 data[16]; }; // a CUtensorMap\n"},
	{"bulk_commit", device + "void bulk_commit() { asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\"); }\n"},
	{"named_sync", device + "void named_sync(int bar, int threads) { asm volatile(\"bar.sync %0, %1;\" :: \"r\"(bar), \"r\"(threads) : \"memory\"); }\n"},
	{"named_arrive", device + "void named_arrive(int bar, int threads) { asm volatile(\"bar.arrive %0, %1;\" :: \"r\"(bar), \"r\"(threads) : \"memory\"); }\n"},
	{"elect", device + `bool elect() { // all lanes: true in one
  u32 one;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(one));
  return one != 0u;
}
`},
	{"fence_async", device + "void fence_async() { asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\"); }\n"},
}

// gridDependency is nothing where there is no programmatic dependent launch: a kernel then begins when those before it on
// its stream are over.
func gridDependency(name, instruction string) string {
	return fmt.Sprintf(device+"void %s() {\n#if __CUDA_ARCH__ >= 900\n  asm volatile(\"griddepcontrol.%s;\" ::: \"memory\");\n#endif\n}\n", name, instruction)
}

// ofPeers is how the question is asked of an mbarrier at which other blocks arrive; mbarrier_acquire follows.
const ofPeers = ".relaxed.cluster"

// mbarrierAcquire is that call, where it is needed.
func mbarrierAcquire(instruction string) string {
	if strings.Contains(instruction, ofPeers) {
		return "  mbarrier_acquire();\n"
	}
	return ""
}

// mbarrierQuestion is the instruction that asks whether a phase is over, into over.
func mbarrierQuestion(indent, instruction, constraint string) string {
	return fmt.Sprintf(`%[1]sasm volatile("{ .reg .pred p; mbarrier.%[2]s.shared.b64 p, [%%1], %%2; selp.u32 %%0, 1, 0, p; }"
%[1]s             : "=r"(over) : "r"(shared_at(bar)), "%[3]s"(phase) : "memory");
`, indent, instruction, constraint)
}

// mbarrierAsk asks whether a phase is over. The answer of a warp is that of all its lanes, each of which has acquired.
func mbarrierAsk(name, instruction, phase, constraint string) string {
	return fmt.Sprintf(device+"bool %s(void* bar, %s phase) { // all lanes: each has acquired\n  u32 over;\n%s%s  return __all_sync(0xffffffffu, over != 0u);\n}\n",
		name, phase, mbarrierQuestion("  ", instruction, constraint), mbarrierAcquire(instruction))
}

// mbarrierWait waits until a phase is over.
func mbarrierWait(name, form, phase, constraint string) string {
	ask := func(instruction string) string { return mbarrierQuestion("    ", instruction+form, constraint) }
	return fmt.Sprintf(device+"void %s(void* bar, %s phase) {\n  u32 over = 0u;\n  while (over == 0u) {\n#if __CUDA_ARCH__ >= 900\n%s#else\n%s#endif\n  }\n%s}\n",
		name, phase, ask("try_wait"), ask("test_wait"), mbarrierAcquire(form))
}

// arriveAtPTX arrives at an mbarrier of a block of the cluster, by an address of peer_shared.
func arriveAtPTX(name, sem string) string {
	return fmt.Sprintf(device+`void %s(u32 bar) {
  asm volatile("mbarrier.arrive.%s.cluster.shared::cluster.b64 _, [%%0];" :: "r"(bar) : "memory");
}
`, name, sem)
}

// storeAsyncPTX stores a value to a block of the cluster, whose mbarrier takes its bytes; both by addresses of peer_shared.
func storeAsyncPTX(t, c, constraint string) string {
	return fmt.Sprintf(device+`void st_async_%s(u32 to, %s x, u32 bar) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.%s [%%0], %%1, [%%2];" :: "r"(to), "%s"(x), "r"(bar) : "memory");
}
`, t, c, t, constraint)
}

// await is a wait, or a question, of an mbarrier.
func await(name string) fnForm {
	local, cluster := shared(name, 0), shared(name+"_cluster", 0)
	return fnForm{stmt: func(p *printer, s thr.Do) code {
		if s.Bar != nil && s.Bar.Remote {
			return cluster.stmt(p, s)
		}
		return local.stmt(p, s)
	}}
}

// arriveAt is an arrival at another block's mbarrier.
func arriveAt(name string) fnForm {
	return fnForm{stmt: func(p *printer, s thr.Do) code {
		return call(p.use(name), p.place(thr.Shared, s.Args[0], s.Args[1]))
	}}
}

func storeAsync(p *printer, s thr.Do) code {
	name := map[dtype.Type]string{dtype.F32: "st_async_f32", dtype.I32: "st_async_b32", dtype.U32: "st_async_b32", dtype.I64: "st_async_b64"}[s.DT]
	if name == "" {
		return p.fail("%v of %v", s.Fn, s.DT)
	}
	return call(p.use(name), p.place(thr.Shared, s.Args[0], s.Args[2]), p.expr(s.Args[1]), p.place(thr.Shared, s.Args[3], s.Args[2]))
}

// shared is a built-in whose operand i is a place in shared memory.
func shared(name string, i int) fnForm {
	return fnForm{stmt: func(p *printer, s thr.Do) code {
		var args []code
		for j, e := range s.Args {
			if j == i {
				args = append(args, p.address(thr.Shared, e))
			} else {
				args = append(args, p.expr(e))
			}
		}
		return call(p.use(name), args...)
	}}
}

// arrive leaves out a count of 1, which older chips have no form of.
func arrive(p *printer, s thr.Do) code {
	bar := p.address(thr.Shared, s.Args[0])
	if c, ok := s.Args[1].(thr.Const); ok && c.Bits == 1 {
		return call(p.use("mbarrier_arrive"), bar)
	}
	return call(p.use("mbarrier_arrive_count"), bar, p.expr(s.Args[1]))
}

func bulkLoad(p *printer, s thr.Do) code {
	return call(p.use("bulk_load"), p.address(thr.Shared, s.Args[1]), p.expr(s.Args[0]), p.expr(s.Args[2]), p.address(thr.Shared, s.Args[3]))
}

func bulkStore(p *printer, s thr.Do) code {
	return call(p.use("bulk_store"), p.expr(s.Args[0]), p.address(thr.Shared, s.Args[1]), p.expr(s.Args[2]))
}
