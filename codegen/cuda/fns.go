package cuda

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// fnForm prints one built-in: pure ones as an expression, the others as the right side of a statement.
type fnForm struct {
	expr func(p *printer, e thr.Call) code
	stmt func(p *printer, s thr.Do) code
	// unsigned is where a thread stands in CUDA's own type, u32; empty for other built-ins.
	unsigned code
}

// fns has one row for each built-in of thr.Fns. It is filled in init because operands may be built-ins again.
var fns [thr.NumFns]fnForm

func init() {
	fns = [thr.NumFns]fnForm{
		thr.TID:     position(primary("threadIdx.x")),
		thr.Lane:    position(code{"threadIdx.x & 31", precAnd}),
		thr.Warp:    position(code{"threadIdx.x >> 5", precShift}),
		thr.BlockX:  position(primary("blockIdx.x")),
		thr.GridX:   position(primary("gridDim.x")),
		thr.Aligned: {expr: function("aligned")},
		thr.Opaque:  {expr: function("opaque")},
		thr.Swizzle: {expr: function("swizzle")},

		thr.BF16Lo:    {expr: function("bf16_lo")},
		thr.BF16Hi:    {expr: function("bf16_hi")},
		thr.BF16Pair:  {expr: function("bf16_pair")},
		thr.F16Lo:     {expr: function("f16_lo")},
		thr.F16Hi:     {expr: function("f16_hi")},
		thr.F16Pair:   {expr: function("f16_pair")},
		thr.RoundBF16: {expr: function("round_bf16")},
		thr.RoundF16:  {expr: function("round_f16")},
		thr.RoundTF32: {expr: function("round_tf32")},

		thr.E4M3ToF32: {expr: function("e4m3_f32")},
		thr.E5M2ToF32: {expr: function("e5m2_f32")},
		thr.I8ToI32:   {expr: function("i8_i32")},
		thr.F32ToE4M3: {expr: function("f32_e4m3")},
		thr.F32ToE5M2: {expr: function("f32_e5m2")},
		thr.I32ToI8:   {expr: function("i32_i8")},
		thr.E4M3Pair:  {expr: function("e4m3_pair")},
		thr.E5M2Pair:  {expr: function("e5m2_pair")},
		thr.I8Pair:    {expr: function("i8_pair")},

		thr.ShflXor: {expr: shuffle("__shfl_xor_sync")},
		thr.ShflIdx: {expr: shuffle("__shfl_sync")},

		thr.BlockSync:  {stmt: barrier("__syncthreads")},
		thr.WarpSync:   {stmt: barrier("__syncwarp")},
		thr.AtomicAdd:  {stmt: atomic("atomicAdd", dtype.F32, dtype.I32, dtype.U32, dtype.I64)},
		thr.AtomicMax:  {stmt: atomic("atomicMax", dtype.I32, dtype.U32, dtype.I64)},
		thr.AtomicMin:  {stmt: atomic("atomicMin", dtype.I32, dtype.U32, dtype.I64)},
		thr.AtomicExch: {stmt: atomic("atomicExch", dtype.F32, dtype.I32, dtype.U32, dtype.I64)},
		thr.AtomicCAS:  {stmt: atomic("atomicCAS", dtype.I32, dtype.U32, dtype.I64)},

		thr.ClusterRank:   {expr: function("cluster_rank")},
		thr.ClusterX:      {expr: function("cluster_x")},
		thr.ClustersX:     {expr: function("clusters_x")},
		thr.ClusterSync:   {stmt: func(p *printer, s thr.Do) code { return barrier(p.use("cluster_sync"))(p, s) }},
		thr.ClusterArrive: {stmt: func(p *printer, s thr.Do) code { return barrier(p.use("cluster_arrive"))(p, s) }},
		thr.ClusterWait:   {stmt: func(p *printer, s thr.Do) code { return barrier(p.use("cluster_wait"))(p, s) }},
		thr.CpAsync:       {stmt: copyAsync("cp_async_16")},
		thr.CpAsync8:      {stmt: copyAsync("cp_async_8")},
		thr.CpAsync4:      {stmt: copyAsync("cp_async_4")},
		thr.CpCommit:      {stmt: func(p *printer, s thr.Do) code { return call(p.use("cp_async_commit")) }},
		thr.CpWait:        {stmt: constantPTX("cp_async_wait", "cp.async.wait_group %d")},

		thr.MBarInit:      shared("mbarrier_init", 0),
		thr.MBarFence:     shared("mbarrier_fence", -1),
		thr.MBarArrive:    {stmt: arrive},
		thr.MBarArriveTx:  shared("mbarrier_arrive_expect_tx", 0),
		thr.MBarExpectTx:  shared("mbarrier_expect_tx", 0),
		thr.MBarTest:      await("mbarrier_test"),
		thr.MBarTestToken: await("mbarrier_test_token"),
		thr.MBarTry:       await("mbarrier_try"),
		thr.MBarTryToken:  await("mbarrier_try_token"),
		thr.MBarWait:      await("mbarrier_wait"),
		thr.MBarWaitToken: await("mbarrier_wait_token"),
		thr.MBarTrack:     shared("mbarrier_track", 0),
		thr.MBarArriveAt:  arriveAt("mbarrier_arrive_at"),
		thr.MBarRelaxedAt: arriveAt("mbarrier_arrive_relaxed_at"),
		thr.MBarInval:     shared("mbarrier_inval", 0),

		thr.BulkLoad:     {stmt: bulkLoad},
		thr.BulkStore:    {stmt: bulkStore},
		thr.BulkCommit:   shared("bulk_commit", -1),
		thr.BulkWait:     {stmt: constantPTX("bulk_wait", "cp.async.bulk.wait_group %d")},
		thr.BulkWaitRead: {stmt: constantPTX("bulk_wait_read", "cp.async.bulk.wait_group.read %d")},
		thr.FenceAsync:   shared("fence_async", -1),

		thr.TensorLoad:      {stmt: tensorLoad.print},
		thr.TensorMulticast: {stmt: tensorMulticast.print},
		thr.TensorStore:     {stmt: tensorStore.print},
		thr.TensorAdd:       {stmt: tensorReduce("add").print},
		thr.TensorMin:       {stmt: tensorReduce("min").print},
		thr.TensorMax:       {stmt: tensorReduce("max").print},
		thr.TensorPrefetch:  {stmt: tensorPrefetch.print},

		thr.StAsync:          {stmt: storeAsync},
		thr.FenceAsyncGlobal: shared("fence_async_global", -1),
		thr.FenceCluster:     shared("fence_cluster", -1),
		thr.FenceShared:      shared("fence_shared", -1),
		thr.FenceLoads:       shared("fence_loads", -1),

		thr.GridLaunch: shared("launch_dependents", -1),
		thr.GridWait:   shared("wait_prerequisites", -1),

		thr.NamedSync:   shared("named_sync", -1),
		thr.NamedArrive: shared("named_arrive", -1),

		thr.RegsDec: {stmt: constantPTX("regs_dec", "setmaxnreg.dec.sync.aligned.u32 %d")},
		thr.RegsInc: {stmt: constantPTX("regs_inc", "setmaxnreg.inc.sync.aligned.u32 %d")},
		thr.Elect:   {expr: function("elect")},

		thr.LdMatrix:      {stmt: matrix(false, false)},
		thr.LdMatrixTrans: {stmt: matrix(false, true)},
		thr.StMatrix:      {stmt: matrix(true, false)},
		thr.StMatrixTrans: {stmt: matrix(true, true)},
		thr.MovMatrix:     {expr: function("movmatrix")},
		thr.MMASync:       {stmt: mmaSync},

		thr.WGMMADesc:   {expr: wgmmaDesc},
		thr.WGMMA:       {stmt: wgmma},
		thr.WGMMARegs:   {stmt: wgmma},
		thr.WGMMAFence:  {stmt: wgmmaFence},
		thr.WGMMACommit: shared("wgmma_commit", -1),
		thr.WGMMAWait:   {stmt: wgmmaWait},
	}
}

// builtin prints a pure built-in.
func (p *printer) builtin(e thr.Call) code {
	if e.Fn >= thr.NumFns || fns[e.Fn].expr == nil {
		return p.fail("built-in %d is no expression", e.Fn)
	}
	if n := thr.Fns[e.Fn].Arity; n != len(e.Args) {
		return p.fail("%v takes %d operands, not %d", e.Fn, n, len(e.Args))
	}
	return fns[e.Fn].expr(p, e)
}

// position is where a thread stands, as an i32.
func position(c code) fnForm {
	return fnForm{expr: func(*printer, thr.Call) code { return prefix("(int)", c) }, unsigned: c}
}

func function(name string) func(*printer, thr.Call) code {
	return func(p *printer, e thr.Call) code { return p.call(name, e.Args...) }
}

// shuffle exchanges a value among the 32 lanes. Booleans travel as int.
func shuffle(name string) func(*printer, thr.Call) code {
	return func(p *printer, e thr.Call) code {
		x, lane := p.expr(e.Args[0]), p.expr(e.Args[1])
		if e.R == dtype.Bool {
			return infix("!=", precEqual, call(name, primary("0xffffffffu"), prefix("(int)", x), lane), primary("0"))
		}
		return call(name, primary("0xffffffffu"), x, lane)
	}
}

// barrier is a meeting of threads; a predicate on it would leave some waiting for ever.
func barrier(name string) func(*printer, thr.Do) code {
	return func(p *printer, s thr.Do) code {
		if s.Pred != nil || s.Dst != nil {
			return p.fail("%v takes no predicate and has no result", s.Fn)
		}
		return call(name)
	}
}

// atomic is one of CUDA's functions. Those without a signed 64-bit form work on the same bits unsigned.
func atomic(name string, types ...dtype.Type) func(*printer, thr.Do) code {
	return func(p *printer, s thr.Do) code {
		known := false
		for _, t := range types {
			known = known || t == s.DT
		}
		if !known {
			return p.fail("no CUDA for %v on %v", s.Fn, s.DT)
		}
		if s.Order != ir.Relaxed {
			return p.orderedAtomic(s)
		}
		bits64 := s.DT == dtype.I64 && s.Fn != thr.AtomicMax && s.Fn != thr.AtomicMin
		var args []code
		for i, e := range s.Args {
			c := p.expr(e)
			switch {
			case bits64 && i == 0:
				c = prefix("("+p.use("u64")+"*)", c)
			case bits64:
				c = prefix("("+p.use("u64")+")", c)
			}
			args = append(args, c)
		}
		c := call(name, args...)
		if bits64 && s.Dst != nil {
			c = prefix("("+p.use("i64")+")", c)
		}
		return c
	}
}

// copyAsync is an asynchronous copy of a thread.
func copyAsync(name string) func(*printer, thr.Do) code {
	return func(p *printer, s thr.Do) code {
		return call(p.use(name), p.address(thr.Shared, s.Args[1]), p.expr(s.Args[0]), p.expr(s.Args[2]))
	}
}

// constantPTX is an instruction with a number in it, so that each number has a function of its own.
func constantPTX(name, instruction string) func(*printer, thr.Do) code {
	return func(p *printer, s thr.Do) code {
		c, ok := s.Args[0].(thr.Const)
		if !ok {
			return p.fail("%v takes a constant", s.Fn)
		}
		f := fmt.Sprintf("%s_%d", name, c.Bits)
		p.made[f] = fmt.Sprintf(device+"void %s() { asm volatile(\""+instruction+";\" ::: \"memory\"); }\n", f, c.Bits)
		return call(f)
	}
}
