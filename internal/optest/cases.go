//go:build !gotilegen

package optest

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile"
	"github.com/gotile/gotile/tile/tiletest"
)

//go:generate go run ../../cmd/gotile gen .

type run = *tiletest.Run

// Cases are the cases of every op and of every concept, for the simulator and for GPUs.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, cs := range [][]tiletest.Case{
		arithCases[tile.F32](), arithCases[tile.BF16](), arithCases[tile.F16](), arithCases[tile.I32](), arithCases[tile.U32](), arithCases[tile.I64](),
		boolCases(), chainCases(), castCases(), reduceCases(), foldCases(), shapeCases(), controlCases(), memoryCases(), atomicCases(), scalarCases(), orderCases(),
		clusterCases(), asyncCases(), columnsCases(), wholeCases(), mbarrierCases(), tensorCases(), remoteCases(), pipeCases(), segmentCases(), fragmentCases(),
		algebraCases(), matrixCases(), mmaCases(), mmaTF32Cases(), wgmmaCases(), mmaScaledCases(),
		wgmmaMoreCases(), bytesCases(), mmaSquareCases(),
	} {
		out = append(out, cs...)
	}
	return out
}

// opCase is a case of an op: op/NAME/variant.
func opCase(op ir.Op, variant string, f func(r run) error) tiletest.Case {
	return tiletest.Case{Name: op.Case() + variant, Run: f}
}

// OpCases are the cases of an op.
func OpCases(op ir.Op) []tiletest.Case { return named(op.Case()) }

// fnCases names, for each built-in of thread IR, a case that goes red when it is another's.
var fnCases = map[thr.Fn]string{
	thr.TID: "op/load/f32", thr.Lane: "op/warp_id/rows", thr.Warp: "op/warp_id/rows", thr.BlockX: "op/block_id/grid", thr.GridX: "op/num_blocks/grid",
	thr.Aligned: "op/load/f32", thr.Opaque: "op/load/f32", thr.Swizzle: "op/copy_tensor/rank2/bf16",
	thr.BF16Lo: "op/add/bf16", thr.BF16Hi: "op/add/bf16", thr.BF16Pair: "op/add/bf16", thr.F16Lo: "op/add/f16", thr.F16Hi: "op/add/f16", thr.F16Pair: "op/add/f16",
	thr.RoundBF16: "op/mul/chain", thr.RoundF16: "op/mul/chain", thr.RoundTF32: "op/mma/tf32/rounding",
	thr.E4M3ToF32: "op/cast/e4m3", thr.E5M2ToF32: "op/cast/e5m2", thr.I8ToI32: "op/cast/i8", thr.F32ToE4M3: "op/cast/e4m3", thr.F32ToE5M2: "op/cast/e5m2", thr.I32ToI8: "op/cast/i8",
	thr.E4M3Pair: "op/cast/e4m3", thr.E5M2Pair: "op/cast/e5m2", thr.I8Pair: "op/cast/i8",
	thr.ShflXor: "op/sum/vector/f32", thr.ShflIdx: "op/atomic_add/i32",
	thr.BlockSync: "op/barrier/shared/f32", thr.WarpSync: "op/barrier/warp",
	thr.AtomicAdd: "op/atomic_add/i32", thr.AtomicMax: "op/atomic_max/i32", thr.AtomicMin: "op/atomic_min/i32", thr.AtomicExch: "op/atomic_exch/i32", thr.AtomicCAS: "op/atomic_cas/i32",
	thr.ClusterRank: "op/cluster_rank/grid", thr.ClusterX: "op/cluster_id/grid", thr.ClustersX: "op/num_clusters/grid", thr.ClusterSync: "op/cluster_barrier/global",
	thr.ClusterArrive: "op/sum/cluster/f32", thr.ClusterWait: "op/sum/cluster/f32",
	thr.CpAsync: "op/copy_async/ring/f32", thr.CpCommit: "op/commit/ring/f32", thr.CpWait: "op/wait_group/ring/f32",
	thr.MBarInit: "op/mbar_init/exchange/f32", thr.MBarFence: "op/copy_bulk/ring/f32", thr.MBarArrive: "op/mbar_arrive/exchange/f32",
	thr.MBarArriveTx: "op/mbar_arrive_tx/ring/f32", thr.MBarExpectTx: "op/mbar_expect_tx/ring/f32",
	thr.MBarTest: "op/mbar_test/poll/i32", thr.MBarTestToken: "op/mbar_test/poll/i32", thr.MBarTry: "op/mbar_try/poll/i32", thr.MBarTryToken: "op/mbar_try/poll/i32",
	thr.MBarWait: "op/mbar_wait/relay/f32", thr.MBarWaitToken: "op/mbar_wait/exchange/f32", thr.MBarTrack: "op/mbar_track/copies/f32", thr.MBarInval: "op/mbar_inval/exchange/f32",
	thr.BulkLoad: "op/copy_bulk/ring/f32", thr.BulkStore: "op/store_bulk/ring/f32", thr.BulkCommit: "op/commit_bulk/ring/f32",
	thr.BulkWait: "op/wait_bulk/twice/f32", thr.BulkWaitRead: "op/wait_bulk_read/ring/f32", thr.FenceAsync: "op/fence_async/ring/f32",
	thr.TensorLoad: "op/copy_tensor/rank2/bf16", thr.TensorMulticast: "op/multicast_tensor/cluster/f32", thr.TensorStore: "op/store_tensor/rank2/i32",
	thr.TensorAdd: "op/reduce_tensor/add/f32", thr.TensorMin: "op/reduce_tensor/min/i32", thr.TensorMax: "op/reduce_tensor/max/f16", thr.TensorPrefetch: "op/prefetch_tensor/halo/f32",
	thr.CpAsync8: "op/copy_async/pieces/i64", thr.CpAsync4: "op/copy_async/pieces/f32",
	thr.MBarArriveAt: "op/mbar_arrive_at/pass/f32", thr.MBarRelaxedAt: "op/mbar_arrive_at/pass/u32", thr.StAsync: "op/store_async/pass/f32", thr.FenceShared: "op/mbar_arrive_all/tell/f32",
	thr.FenceAsyncGlobal: "op/fence_async_global/refetch/f32", thr.FenceCluster: "op/fence_cluster/pass/u32",
	thr.GridLaunch: "op/launch_dependents/chain", thr.GridWait: "op/wait_prerequisites/chain",
	thr.NamedSync: "op/named_sync/hand_over/f32", thr.NamedArrive: "op/named_arrive/hand_over/f32",
	thr.RegsDec: "op/set_max_regs/pipe/f32", thr.RegsInc: "op/set_max_regs/pipe/f32", thr.Elect: "op/elect/i32",
	thr.LdMatrix: "op/load_matrix/load/bf16", thr.LdMatrixTrans: "op/load_matrix/load/bf16", thr.StMatrix: "op/store_matrix/store/bf16", thr.StMatrixTrans: "op/store_matrix/group/bf16",
	thr.MovMatrix: "op/move_matrix/load/bf16", thr.MMASync: "op/mma/ab/bf16",
	thr.WGMMADesc: "op/mma/group_ab/bf16", thr.WGMMA: "op/mma/group_ab/bf16", thr.WGMMARegs: "op/mma/group_ab/bf16",
	thr.WGMMAFence: "op/mma/group_ab/bf16", thr.WGMMACommit: "op/mma/group_ab/bf16", thr.WGMMAWait: "op/mma/group_ab/bf16",
}

// FnCase is the case of a built-in of thread IR; its Name is empty where there is none.
func FnCase(f thr.Fn) tiletest.Case {
	if name := fnCases[f]; name != "" {
		for _, c := range named(name) {
			if c.Name == name {
				return c
			}
		}
	}
	return tiletest.Case{}
}

func named(prefix string) []tiletest.Case {
	var out []tiletest.Case
	for _, c := range Cases() {
		if strings.HasPrefix(c.Name, prefix) {
			out = append(out, c)
		}
	}
	return out
}

// place makes an input of bit patterns.
func place(r run, t dtype.Type, bits []uint64, shape ...int) device.Tensor {
	return r.Place(tiletest.Spec{Role: tiletest.Input, DType: t, Bits: bits, Shape: shape})
}

// change makes a tensor of bit patterns that the kernel may change.
func change(r run, t dtype.Type, bits []uint64, shape ...int) device.Tensor {
	return r.Place(tiletest.Spec{Role: tiletest.Both, DType: t, Bits: bits, Shape: shape})
}

// mistakes counts wrong elements and reports the first one.
type mistakes struct {
	r     run
	what  string
	count int
}

func (m *mistakes) at(i int, got any, want string, args ...any) {
	if m.count++; m.count == 1 { // the others are not formatted, which in broken kernels are many
		m.r.Errorf("%s: element %d is %v, want %s", m.what, i, got, fmt.Sprintf(want, args...))
	}
}

// hex is bits as failures show them.
type hex uint64

func (x hex) String() string { return fmt.Sprintf("%#x", uint64(x)) }

// done records how many of n elements were wrong, for receipts.
func (m *mistakes) done(n int) {
	m.r.Compare("wrong elements", []float64{float64(m.count)}, []float64{0}, 0)
	if n == 0 {
		m.r.Errorf("%s: nothing was compared", m.what)
	}
}

// equal compares bit patterns; floats by value, so that any NaN is NaN.
func equal(r run, what string, t dtype.Type, got, want []uint64) {
	m := &mistakes{r: r, what: what}
	if len(got) != len(want) {
		r.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if t.IsFloat() {
			if g, w := exact.Float(t, got[i]), exact.Float(t, want[i]); !sameFloat(g, w) {
				m.at(i, g, "%v", w)
			}
		} else if got[i] != want[i] {
			m.at(i, hex(got[i]), "%#x", want[i])
		}
	}
	m.done(len(want))
}

// ints compares small integers in any type, against host numbers.
func ints(r run, what string, y device.Tensor, want []int) {
	got := r.Floats(y)
	m := &mistakes{r: r, what: what}
	if len(got) != len(want) {
		r.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != float64(want[i]) {
			m.at(i, got[i], "%v", want[i])
		}
	}
	m.done(len(want))
}
