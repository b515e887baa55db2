package sim

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// fnRow is the simulator's row of the table of built-ins. One of the fields is set.
type fnRow struct {
	pure fn                                                  // elementwise
	call func(c *compiler, e thr.Call, dst *operand) operand // an expression that is more than that
	do   func(c *compiler, s thr.Do)                         // a statement
}

// fns is indexed like thr.Fns; a test demands that every row is filled. It is set in init since statements compile
// expressions, which look functions up here.
var fns [thr.NumFns]fnRow

func init() {
	fns = [thr.NumFns]fnRow{
		thr.TID:    {call: standing(operand{i: vecTID})},
		thr.Lane:   {call: standing(operand{i: ^poolLane})},
		thr.Warp:   {call: standing(operand{i: uniWarp, uniform: true})},
		thr.BlockX: {call: standing(operand{i: ^poolBlock, uniform: true})},
		thr.GridX:  {call: standing(operand{i: ^poolGrid, uniform: true})},

		thr.Opaque:  {pure: raw(1, func(a, _, _ uint64) uint64 { return a })},
		thr.Swizzle: {pure: raw(2, func(a, mask, _ uint64) uint64 { return (a ^ a>>7&mask<<4) & 0xffffffff })},
		thr.Aligned: {pure: raw(2, func(p, n, _ uint64) uint64 { return put(p&(n-1) == 0) })},

		thr.BF16Lo: {pure: raw(1, func(a, _, _ uint64) uint64 { return a << 16 & 0xffffffff }).with(func(d, a, _, _ *lanes) {
			for l := range d {
				d[l] = a[l] << 16 & 0xffffffff
			}
		})},
		thr.BF16Hi: {pure: raw(1, func(a, _, _ uint64) uint64 { return a & 0xffff0000 }).with(func(d, a, _, _ *lanes) {
			for l := range d {
				d[l] = a[l] & 0xffff0000
			}
		})},
		thr.BF16Pair: {pure: raw(2, func(lo, hi, _ uint64) uint64 { return bf16(lo) | bf16(hi)<<16 }).with(func(d, lo, hi, _ *lanes) {
			for l := range d {
				d[l] = bf16(lo[l]) | bf16(hi[l])<<16
			}
		})},
		thr.F16Lo:   {pure: raw(1, func(a, _, _ uint64) uint64 { return unf16(a) })},
		thr.F16Hi:   {pure: raw(1, func(a, _, _ uint64) uint64 { return unf16(a >> 16) })},
		thr.F16Pair: {pure: raw(2, func(lo, hi, _ uint64) uint64 { return f16(lo) | f16(hi)<<16 })},
		thr.RoundBF16: {pure: raw(1, func(a, _, _ uint64) uint64 { return bf16(a) << 16 }).with(func(d, a, _, _ *lanes) {
			for l := range d {
				d[l] = bf16(a[l]) << 16
			}
		})},
		thr.RoundF16:  {pure: raw(1, func(a, _, _ uint64) uint64 { return unf16(f16(a)) })},
		thr.RoundTF32: {pure: raw(1, func(a, _, _ uint64) uint64 { return tf32(a) })},

		thr.E4M3ToF32: {pure: raw(1, func(a, _, _ uint64) uint64 { return fbits(dtype.E4M3FromBits(uint8(a)).Float32()) })},
		thr.E5M2ToF32: {pure: raw(1, func(a, _, _ uint64) uint64 { return fbits(dtype.E5M2FromBits(uint8(a)).Float32()) })},
		thr.I8ToI32:   {pure: raw(1, func(a, _, _ uint64) uint64 { return put(int32(int8(a))) })},
		thr.F32ToE4M3: {pure: raw(1, func(a, _, _ uint64) uint64 { return toE4M3(a) })},
		thr.F32ToE5M2: {pure: raw(1, func(a, _, _ uint64) uint64 { return toE5M2(a) })},
		thr.I32ToI8:   {pure: raw(1, func(a, _, _ uint64) uint64 { return toI8(a) })},
		thr.E4M3Pair:  {pure: raw(2, func(lo, hi, _ uint64) uint64 { return toE4M3(lo) | toE4M3(hi)<<8 })},
		thr.E5M2Pair:  {pure: raw(2, func(lo, hi, _ uint64) uint64 { return toE5M2(lo) | toE5M2(hi)<<8 })},
		thr.I8Pair:    {pure: raw(2, func(lo, hi, _ uint64) uint64 { return toI8(lo) | toI8(hi)<<8 })},

		thr.ShflXor: {call: (*compiler).shuffleXor},
		thr.ShflIdx: {call: (*compiler).shuffleIndex},

		thr.BlockSync:  {do: (*compiler).blockSync},
		thr.WarpSync:   {do: (*compiler).warpSync},
		thr.AtomicAdd:  {do: atomicDo(atomicAdd)},
		thr.AtomicMax:  {do: atomicDo(atomicMax)},
		thr.AtomicMin:  {do: atomicDo(atomicMin)},
		thr.AtomicExch: {do: atomicDo(atomicExch)},
		thr.AtomicCAS:  {do: atomicDo(atomicCAS)},

		thr.ClusterRank:   {call: clusterwide(operand{i: ^poolRank, uniform: true})},
		thr.ClusterX:      {call: clusterwide(operand{i: ^poolCluster, uniform: true})},
		thr.ClustersX:     {call: clusterwide(operand{i: ^poolClusters, uniform: true})},
		thr.ClusterSync:   {do: (*compiler).clusterSync},
		thr.ClusterArrive: {do: (*compiler).clusterArrive},
		thr.ClusterWait:   {do: (*compiler).clusterWait},
		thr.CpAsync:       {do: copyAsync(16)},
		thr.CpAsync8:      {do: copyAsync(8)},
		thr.CpAsync4:      {do: copyAsync(4)},
		thr.CpCommit:      {do: (*compiler).copyCommit},
		thr.CpWait:        {do: (*compiler).copyWait},

		thr.MBarInit:      {do: barrierDo((*barrierOp).initBarrier)},
		thr.MBarFence:     {do: (*compiler).fenceBarriers},
		thr.MBarArrive:    {do: barrierDo((*barrierOp).arrive)},
		thr.MBarArriveTx:  {do: barrierDo((*barrierOp).arriveExpect)},
		thr.MBarExpectTx:  {do: barrierDo((*barrierOp).expect)},
		thr.MBarTest:      {do: barrierDo(test(false))},
		thr.MBarTestToken: {do: barrierDo(test(true))},
		thr.MBarTry:       {do: barrierDo(test(false))},
		thr.MBarTryToken:  {do: barrierDo(test(true))},
		thr.MBarWait:      {do: barrierDo(wait(false))},
		thr.MBarWaitToken: {do: barrierDo(wait(true))},
		thr.MBarTrack:     {do: barrierDo((*barrierOp).track)},
		thr.MBarArriveAt:  {do: remoteArrive(false)},
		thr.MBarRelaxedAt: {do: remoteArrive(true)},
		thr.MBarInval:     {do: barrierDo((*barrierOp).invalBarrier)},

		thr.BulkLoad:  {do: (*compiler).bulkCopy},
		thr.BulkStore: {do: (*compiler).bulkCopy},

		thr.TensorLoad:      {do: (*compiler).tensorCopy},
		thr.TensorMulticast: {do: (*compiler).tensorCopy},
		thr.TensorStore:     {do: tensorStore(nil)},
		thr.TensorAdd:       {do: tensorStore(tensorAdd)},
		thr.TensorMin:       {do: tensorStore(tensorMin)},
		thr.TensorMax:       {do: tensorStore(tensorMax)},
		thr.TensorPrefetch:  {do: (*compiler).tensorPrefetch},

		thr.BulkCommit:   {do: (*compiler).bulkCommit},
		thr.BulkWait:     {do: bulkWait(false)},
		thr.BulkWaitRead: {do: bulkWait(true)},
		thr.FenceAsync:   {do: (*compiler).fenceAsync},

		thr.StAsync:          {do: (*compiler).storeAsync},
		thr.FenceAsyncGlobal: {do: (*compiler).fenceAsyncGlobal},
		thr.FenceCluster:     {do: (*compiler).fenceCluster},
		thr.FenceLoads:       {do: (*compiler).fenceLoads},
		thr.FenceShared:      {do: (*compiler).fenceShared},

		thr.GridLaunch: {do: (*compiler).gridLaunch},
		thr.GridWait:   {do: (*compiler).gridWait},

		thr.NamedSync:   {do: namedDo(true)},
		thr.NamedArrive: {do: namedDo(false)},

		thr.RegsDec: {do: regsDo(false)},
		thr.RegsInc: {do: regsDo(true)},
		thr.Elect:   {call: (*compiler).elect},

		thr.LdMatrix:      {do: matrixDo(false, false)},
		thr.LdMatrixTrans: {do: matrixDo(false, true)},
		thr.StMatrix:      {do: matrixDo(true, false)},
		thr.StMatrixTrans: {do: matrixDo(true, true)},
		thr.MovMatrix:     {call: (*compiler).moveMatrix},
		thr.MMASync:       {do: (*compiler).mmaSync},

		thr.WGMMADesc:   {call: (*compiler).wgmmaDesc},
		thr.WGMMA:       {do: (*compiler).wgmma},
		thr.WGMMARegs:   {do: (*compiler).wgmma},
		thr.WGMMAFence:  {do: (*compiler).wgmmaFence},
		thr.WGMMACommit: {do: (*compiler).wgmmaCommit},
		thr.WGMMAWait:   {do: (*compiler).wgmmaWait},
	}
}

// 16-bit floats, as bits in lanes. Reading one does not change a NaN; rounding makes it canonical.

func bf16(x uint64) uint64   { return uint64(dtype.BF16FromFloat32(float(x)).Bits()) }
func f16(x uint64) uint64    { return uint64(dtype.F16FromFloat32(float(x)).Bits()) }
func toE4M3(x uint64) uint64 { return uint64(dtype.E4M3FromFloat32(float(x)).Bits()) }
func toE5M2(x uint64) uint64 { return uint64(dtype.E5M2FromFloat32(float(x)).Bits()) }
func toI8(x uint64) uint64   { return uint64(uint8(int8(max(-128, min(127, get[int32](x)))))) }
func unf16(x uint64) uint64  { return fbits(dtype.F16FromBits(uint16(x)).Float32()) }

// standing is a built-in without operands whose value is always in one place.
func standing(o operand) func(*compiler, thr.Call, *operand) operand {
	return func(c *compiler, e thr.Call, _ *operand) operand {
		if len(e.Args) != 0 {
			c.fail("%s takes no operands", e.Fn)
		}
		return o
	}
}

// clusterwide is standing for kernels with clusters.
func clusterwide(o operand) func(*compiler, thr.Call, *operand) operand {
	return func(c *compiler, e thr.Call, dst *operand) operand {
		c.clustered(e.Fn)
		return standing(o)(c, e, dst)
	}
}

func (c *compiler) call(e thr.Call, dst *operand) operand {
	if e.Fn <= thr.InvalidFn || e.Fn >= thr.NumFns {
		c.fail("built-in %d", e.Fn)
	}
	row := fns[e.Fn]
	switch {
	case row.call != nil:
		return row.call(c, e, dst)
	case row.pure.scalar != nil:
		return c.apply(row.pure, e.Args, dst)
	}
	c.fail("%s is a statement", e.Fn)
	panic("unreachable")
}

// shuffleXor reads the lane whose number differs by a constant mask.
func (c *compiler) shuffleXor(e thr.Call, dst *operand) operand {
	if len(e.Args) != 2 {
		c.fail("shfl_xor of %d operands", len(e.Args))
	}
	k, ok := c.fold(e.Args[1])
	if !ok || k >= warpSize {
		c.fail("the mask of shfl_xor is a constant below 32")
	}
	m := c.mark()
	x := c.vec(e.Args[0])
	c.release(m)
	d := c.result(false, dst)
	c.emit(warpSize, func(w *warp) {
		from, to := *w.vec(x.i), &w.r[d.i] // a copy: they may be one register
		for l := range to {
			to[l] = from[(l^int(k))&31]
		}
	})
	return d
}

// shuffleIndex reads a lane by number.
func (c *compiler) shuffleIndex(e thr.Call, dst *operand) operand {
	if len(e.Args) != 2 {
		c.fail("shfl_idx of %d operands", len(e.Args))
	}
	m := c.mark()
	x, n := c.vec(e.Args[0]), c.vec(e.Args[1])
	c.release(m)
	d := c.result(false, dst)
	at := c.site("shfl_idx", 0)
	c.emit(warpSize, func(w *warp) {
		from, lane, to := *w.vec(x.i), *w.vec(n.i), &w.r[d.i]
		for l := range to {
			if i := int32(lane[l]); i < 0 || i >= warpSize {
				w.report(BadShuffle, at, none, l, "lane %d reads lane %d", l, i)
			}
			to[l] = from[lane[l]&31]
		}
	})
	return d
}
