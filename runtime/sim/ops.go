package sim

import (
	"maps"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// opRow is the simulator's row of the op table.
type opRow struct {
	// by holds the meaning of an elementwise op for each pair of operand and result type that thread IR can have.
	by map[sig]fn
	// lowered says, for the other ops, what the planner makes of them, which is what the simulator runs.
	lowered string
}

// ops is indexed like ir.Table; a test demands that every row is filled.
var ops = [ir.NumOps]opRow{
	ir.Const: {lowered: "thr.Const"},
	ir.Param: {lowered: "thr.ArgRef"},
	ir.Dim:   {lowered: "thr.ArgRef"},

	ir.Add:   {by: arithmetic(func(a, b float32) float32 { return a + b }, ints2(add[int32], add[uint32], add[int64]))},
	ir.Sub:   {by: arithmetic(func(a, b float32) float32 { return a - b }, ints2(sub[int32], sub[uint32], sub[int64]))},
	ir.Mul:   {by: arithmetic(func(a, b float32) float32 { return float32(a * b) }, ints2(mul[int32], mul[uint32], mul[int64]))},
	ir.Div:   {by: arithmetic(func(a, b float32) float32 { return a / b }, ints2(div[int32], div[uint32], div[int64]))},
	ir.Rem:   {by: ints2(rem[int32], rem[uint32], rem[int64])},
	ir.Fma:   {by: map[sig]fn{same(dtype.F32): floats3(fma32)}},
	ir.Neg:   {by: join(f32(func(a float32) float32 { return -a }), ints1(neg[int32], neg[uint32], neg[int64]))},
	ir.Abs:   {by: join(f32(func(a float32) float32 { return float32(math.Abs(float64(a))) }), ints1(abs[int32], abs[uint32], abs[int64]))},
	ir.Min:   {by: arithmetic(min32, ints2(least[int32], least[uint32], least[int64]))},
	ir.Max:   {by: arithmetic(max32, ints2(most[int32], most[uint32], most[int64]))},
	ir.MulHi: {by: ints2(mulHiI32, mulHiU32, mulHiI64)},

	ir.Exp:       {by: f32(via64(math.Exp))},
	ir.Exp2:      {by: f32(via64(math.Exp2))},
	ir.Log:       {by: f32(via64(math.Log))},
	ir.Log2:      {by: f32(via64(math.Log2))},
	ir.Sqrt:      {by: f32(via64(math.Sqrt))},
	ir.Rsqrt:     {by: f32(via64(rsqrt64))},
	ir.Tanh:      {by: f32(via64(math.Tanh))},
	ir.Sigmoid:   {by: f32(via64(sigmoid64))},
	ir.Silu:      {by: f32(via64(silu64))},
	ir.Softplus:  {by: f32(via64(softplus64))},
	ir.RoundTF32: {by: f32(func(a float32) float32 { return float(tf32(uint64(math.Float32bits(a)))) })},

	ir.ExpApprox:     {by: f32(via64(math.Exp))},
	ir.Exp2Approx:    {by: f32(flush(via64(math.Exp2)))},
	ir.LogApprox:     {by: f32(via64(math.Log))},
	ir.Log2Approx:    {by: f32(via64(math.Log2))},
	ir.SqrtApprox:    {by: f32(flush(via64(math.Sqrt)))},
	ir.RsqrtApprox:   {by: f32(flush(via64(rsqrt64)))},
	ir.TanhApprox:    {by: f32(via64(math.Tanh))},
	ir.SigmoidApprox: {by: f32(via64(sigmoid64))},
	ir.SiluApprox:    {by: f32(via64(silu64))},
	ir.DivApprox:     {by: map[sig]fn{same(dtype.F32): floats2(divApprox)}},

	ir.Lt:     {by: compare(lt[float32], lt[int32], lt[uint32], lt[int64])},
	ir.Le:     {by: compare(le[float32], le[int32], le[uint32], le[int64])},
	ir.Gt:     {by: compare(gt[float32], gt[int32], gt[uint32], gt[int64])},
	ir.Ge:     {by: compare(ge[float32], ge[int32], ge[uint32], ge[int64])},
	ir.Eq:     {by: compare(eq[float32], eq[int32], eq[uint32], eq[int64])},
	ir.Ne:     {by: compare(ne[float32], ne[int32], ne[uint32], ne[int64])},
	ir.Select: {by: selects()},

	ir.And: {by: join(ints2(and[int32], and[uint32], and[int64]), logic(func(a, b bool) bool { return a && b }))},
	ir.Or:  {by: join(ints2(or[int32], or[uint32], or[int64]), logic(func(a, b bool) bool { return a || b }))},
	ir.Xor: {by: join(ints2(xor[int32], xor[uint32], xor[int64]), logic(func(a, b bool) bool { return a != b }))},
	ir.Not: {by: join(ints1(not[int32], not[uint32], not[int64]),
		map[sig]fn{same(dtype.Bool): lift1(func(a bool) bool { return !a })})},
	ir.Shl:     {by: ints2(shl[int32], shl[uint32], shl[int64])},
	ir.Shr:     {by: ints2(shr[int32], shr[uint32], shr[int64])},
	ir.Bitcast: {by: bitcasts()},
	ir.Cast:    {by: casts()},

	ir.Broadcast: {lowered: "register moves"},
	ir.Fill:      {lowered: "select"},
	ir.Coord:     {lowered: "arithmetic on thr.TID"},

	ir.Sum:   {lowered: "shuffles, shared memory and adds"},
	ir.MaxOf: {lowered: "shuffles, shared memory and max"},
	ir.MinOf: {lowered: "shuffles, shared memory and min"},
	ir.Prod:  {lowered: "shuffles, shared memory and mul"},
	ir.Fold:  {lowered: "adds"},

	ir.Var: {lowered: "thr.Decl"},
	ir.Get: {lowered: "thr.Ref"},
	ir.Set: {lowered: "thr.Assign"},

	ir.Transpose:        {lowered: "the same registers"},
	ir.Subtile:          {lowered: "some of the registers"},
	ir.CumSum:           {lowered: "adds, shuffles and shared memory"},
	ir.CumMax:           {lowered: "maxima, shuffles and shared memory"},
	ir.CumMin:           {lowered: "minima, shuffles and shared memory"},
	ir.CumProd:          {lowered: "products, shuffles and shared memory"},
	ir.Redistribute:     {lowered: "shuffles, or shared memory"},
	ir.InverseUnitLower: {lowered: "shuffles and fused multiply-adds"},

	ir.LoadMatrix:  {lowered: "thr.LdMatrix, thr.LdMatrixTrans"},
	ir.StoreMatrix: {lowered: "thr.StMatrix, thr.StMatrixTrans"},
	ir.MoveMatrix:  {lowered: "thr.MovMatrix"},
	ir.MMA:         {lowered: "thr.MMASync, or thr.WGMMA and thr.WGMMARegs with thr.WGMMAFence and thr.WGMMACommit"},
	ir.WaitMMA:     {lowered: "thr.WGMMAWait"},

	ir.Load:       {lowered: "thr.Load"},
	ir.Store:      {lowered: "thr.Store"},
	ir.AtomicAdd:  {lowered: "thr.AtomicAdd"},
	ir.AtomicMax:  {lowered: "thr.AtomicMax"},
	ir.AtomicMin:  {lowered: "thr.AtomicMin"},
	ir.AtomicExch: {lowered: "thr.AtomicExch"},
	ir.AtomicCAS:  {lowered: "thr.AtomicCAS"},
	ir.CopyAsync:  {lowered: "thr.CpAsync, thr.CpAsync8 or thr.CpAsync4, and thr.Load with thr.Store"},
	ir.Commit:     {lowered: "thr.CpCommit"},
	ir.WaitGroup:  {lowered: "thr.CpWait"},
	ir.Asm:        {lowered: "thr.Asm"},

	ir.MBarInit:          {lowered: "thr.MBarInit"},
	ir.MBarArrive:        {lowered: "thr.MBarArrive"},
	ir.MBarArriveTx:      {lowered: "thr.MBarArriveTx"},
	ir.MBarExpectTx:      {lowered: "thr.MBarExpectTx"},
	ir.MBarTest:          {lowered: "thr.MBarTest, thr.MBarTestToken"},
	ir.MBarTry:           {lowered: "thr.MBarTry, thr.MBarTryToken"},
	ir.MBarWait:          {lowered: "thr.MBarWait, thr.MBarWaitToken"},
	ir.MBarTrack:         {lowered: "thr.MBarTrack"},
	ir.MBarArriveAt:      {lowered: "thr.MBarArriveAt, thr.MBarRelaxedAt"},
	ir.MBarArriveAll:     {lowered: "thr.FenceShared, thr.MBarRelaxedAt"},
	ir.MBarInval:         {lowered: "thr.MBarInval"},
	ir.CopyBulk:          {lowered: "thr.BulkLoad"},
	ir.StoreBulk:         {lowered: "thr.BulkStore"},
	ir.CommitBulk:        {lowered: "thr.BulkCommit"},
	ir.WaitBulk:          {lowered: "thr.BulkWait"},
	ir.WaitBulkRead:      {lowered: "thr.BulkWaitRead"},
	ir.StoreAsync:        {lowered: "thr.StAsync"},
	ir.BroadcastAsync:    {lowered: "thr.StAsync"},
	ir.FenceAsyncGlobal:  {lowered: "thr.FenceAsyncGlobal"},
	ir.FenceCluster:      {lowered: "thr.FenceCluster"},
	ir.LaunchDependents:  {lowered: "thr.GridLaunch"},
	ir.WaitPrerequisites: {lowered: "thr.GridWait"},
	ir.CopyTensor:        {lowered: "thr.TensorLoad"},
	ir.MulticastTensor:   {lowered: "thr.TensorMulticast"},
	ir.StoreTensor:       {lowered: "thr.TensorStore"},
	ir.ReduceTensor:      {lowered: "thr.TensorAdd, thr.TensorMin, thr.TensorMax"},
	ir.PrefetchTensor:    {lowered: "thr.TensorPrefetch"},
	ir.FenceAsync:        {lowered: "thr.FenceAsync"},

	ir.NamedSync:   {lowered: "thr.NamedSync"},
	ir.NamedArrive: {lowered: "thr.NamedArrive"},

	ir.Elect:       {lowered: "thr.Elect"},
	ir.PipeInit:    {lowered: "thr.MBarInit"},
	ir.SlotAcquire: {lowered: "thr.MBarWait"},
	ir.SlotWait:    {lowered: "thr.MBarWait"},
	ir.SlotRelease: {lowered: "thr.MBarArrive"},
	ir.SetMaxRegs:  {lowered: "thr.RegsDec, thr.RegsInc"},
	ir.Roles:       {lowered: "thr.If"},
	ir.GroupID:     {lowered: "thr.Warp"},

	ir.Range:      {lowered: "thr.For"},
	ir.Persistent: {lowered: "thr.For"},
	ir.If:         {lowered: "thr.If"},
	ir.While:      {lowered: "thr.While"},
	ir.Barrier:    {lowered: "thr.BlockSync"},

	ir.BlockID:   {lowered: "thr.BlockX"},
	ir.NumBlocks: {lowered: "thr.GridX"},
	ir.WarpID:    {lowered: "thr.Warp"},

	ir.ClusterID:      {lowered: "thr.ClusterX"},
	ir.NumClusters:    {lowered: "thr.ClustersX"},
	ir.ClusterRank:    {lowered: "thr.ClusterRank"},
	ir.ClusterBarrier: {lowered: "thr.ClusterSync"},
}

func same(t dtype.Type) sig      { return sig{t, t} }
func predicate(t dtype.Type) sig { return sig{t, dtype.Bool} }

func join(ms ...map[sig]fn) map[sig]fn {
	out := map[sig]fn{}
	for _, m := range ms {
		maps.Copy(out, m)
	}
	return out
}

func f32(f func(float32) float32) map[sig]fn { return map[sig]fn{same(dtype.F32): floats1(f)} }

func ints1(i func(int32) int32, u func(uint32) uint32, q func(int64) int64) map[sig]fn {
	return map[sig]fn{same(dtype.I32): lift1(i), same(dtype.U32): lift1(u), same(dtype.I64): lift1(q)}
}

func ints2(i func(a, b int32) int32, u func(a, b uint32) uint32, q func(a, b int64) int64) map[sig]fn {
	return map[sig]fn{same(dtype.I32): lift2(i), same(dtype.U32): lift2(u), same(dtype.I64): lift2(q)}
}

func arithmetic(f func(a, b float32) float32, ints map[sig]fn) map[sig]fn {
	return join(ints, map[sig]fn{same(dtype.F32): floats2(f)})
}

func logic(f func(a, b bool) bool) map[sig]fn { return map[sig]fn{same(dtype.Bool): lift2(f)} }

func compare(f func(a, b float32) bool, i func(a, b int32) bool, u func(a, b uint32) bool, q func(a, b int64) bool) map[sig]fn {
	return map[sig]fn{predicate(dtype.F32): lift2(f), predicate(dtype.I32): lift2(i),
		predicate(dtype.U32): lift2(u), predicate(dtype.I64): lift2(q)}
}

// selects moves bit patterns, whatever they mean.
func selects() map[sig]fn {
	f := raw(3, func(c, a, b uint64) uint64 {
		if c != 0 {
			return a
		}
		return b
	})
	m := map[sig]fn{}
	for _, t := range registerTypes {
		m[same(t)] = f
	}
	return m
}

// registerTypes are the types that thread IR computes with.
var registerTypes = []dtype.Type{dtype.F32, dtype.I32, dtype.U32, dtype.I64, dtype.Bool}

func bitcasts() map[sig]fn {
	m := map[sig]fn{}
	for _, t := range registerTypes {
		for _, r := range registerTypes {
			if t.Size() == r.Size() && t != dtype.Bool {
				m[sig{t, r}] = raw(1, func(a, _, _ uint64) uint64 { return a }).renamed()
			}
		}
	}
	return m
}

// lookup finds the meaning of an op on operands of type t with a result of type r.
func lookup(op ir.Op, t, r dtype.Type) (fn, bool) {
	f, ok := ops[op].by[sig{t, r}]
	return f, ok
}
