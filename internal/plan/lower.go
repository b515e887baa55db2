package plan

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// lowering turns tile ops into statements.
//
// Pure ops are not emitted where they stand but when something with an effect asks for them. Effects on tiles of one
// distribution that follow one another (stores, assignments to variables, reductions) form a batch, and a batch
// becomes one loop over a thread's elements with everything it needs inside, so that intermediate tiles live in a few
// registers and not in arrays. Values that are needed again later are kept in register arrays.
type lowering struct {
	*state
	args
	body     *[]thr.Stmt
	prologue []thr.Stmt
	names    namer
	cur      *ir.Value // the op being lowered

	scalars map[*ir.Value]thr.Expr   // rank-0 values that are available
	tiles   map[*ir.Value]*thr.Local // tiles that are in registers
	vars    map[*ir.Value]*thr.Local // explicit variables
	done    map[*ir.Value]bool       // ops emitted for good
	batch   []*ir.Value
	gets    []*ir.Value // reads of tile variables seen so far in open regions

	coords     map[string]thr.Expr   // first coordinate of a thread by distribution, scope and axis
	hidden     map[string]thr.Expr   // the same where it must be opaque to the compiler
	top        map[string]*thr.Local // what the top of the kernel computes, by its text
	sharedBufs map[*ir.SharedTile]*thr.SharedBuf
	barBufs    map[*ir.MBarrier]*thr.SharedBuf
	spaces     map[space]*thr.SharedBuf // of collective ops

	role  *thr.Role              // whose region is being lowered; nil: none's
	parts map[*ir.Role]*thr.Role // what thread IR knows of the roles
	pipes map[*ir.Pipeline]*pipe
	sides map[side]*slotState       // where the open region's role stands in a pipeline
	fills map[*ir.Value]*fill       // slots that are being filled, by their SlotAcquire
	ends  map[*ir.Value][]*ir.Value // by op: the slots that it is the last to fill

	operands map[*ir.SharedTile]bool  // tiles, but for slots, that MMAs of warpgroups read
	copied   bool                     // some of them are written by cp.async
	deferred map[*ir.Value]*thr.Local // releases of the slot of the iteration before, by SlotRelease: that slot; -1: none

	err error
}

// lowerKernel is the pass that produces thread IR.
func lowerKernel(s *state) error {
	l := &lowering{state: s, args: indexArgs(s.out), names: newNamer(s.out),
		scalars: map[*ir.Value]thr.Expr{}, tiles: map[*ir.Value]*thr.Local{}, vars: map[*ir.Value]*thr.Local{},
		done: map[*ir.Value]bool{}, coords: map[string]thr.Expr{}, top: map[string]*thr.Local{}, sharedBufs: map[*ir.SharedTile]*thr.SharedBuf{}, barBufs: map[*ir.MBarrier]*thr.SharedBuf{}, spaces: map[space]*thr.SharedBuf{},
		parts: map[*ir.Role]*thr.Role{}, sides: map[side]*slotState{}, fills: map[*ir.Value]*fill{}, deferred: map[*ir.Value]*thr.Local{}}
	l.pipes, l.ends = pipesOf(l), fillEnds(s.k)
	l.operands, l.copied = operandTiles(s)
	if s.k.Work != nil {
		s.out.Grid = thr.Grid{N: s.k.Work, Step: 1, Blocks: s.k.WorkBlocks}
	}
	var body []thr.Stmt
	l.body = &body
	l.region(s.k.Body)
	s.out.Body = append(l.prologue, body...)
	return l.err
}

func (l *lowering) fail(pos ir.Pos, format string, args ...any) {
	if l.err == nil {
		l.err = positioned(ir.ErrLayout, pos, format, args...)
	}
}

func (l *lowering) emit(stmts ...thr.Stmt) {
	for _, s := range stmts {
		if a, ok := s.(thr.Assign); ok && l.initialises(a) {
			(*l.body)[len(*l.body)-1] = thr.Decl{At: a.At, Local: a.Dst.Local, Init: a.Src}
			continue
		}
		*l.body = append(*l.body, s)
	}
}

// initialises reports whether an assignment is the first value of the local declared just before it.
func (l *lowering) initialises(a thr.Assign) bool {
	if len(*l.body) == 0 || a.Pred != nil {
		return false
	}
	d, ok := (*l.body)[len(*l.body)-1].(thr.Decl)
	return ok && d.Local == a.Dst.Local && d.Init == nil && d.Local.Len == 0
}

func (l *lowering) at() thr.At {
	if l.cur == nil {
		return thr.At{}
	}
	return thr.At{Pos: l.cur.Pos, Op: l.cur.ID}
}

func (l *lowering) comment(format string, args ...any) {
	l.emit(thr.Comment{At: l.at(), Text: fmt.Sprintf(format, args...)})
}

// into collects what f emits.
func (l *lowering) into(f func()) []thr.Stmt {
	var body []thr.Stmt
	save := l.body
	l.body = &body
	f()
	l.body = save
	return body
}

// local makes a scalar local and declares it.
func (l *lowering) local(name string, t thr.Type, init thr.Expr) *thr.Local {
	x := &thr.Local{Name: l.names.fresh(name), Type: t}
	l.emit(thr.Decl{At: l.at(), Local: x, Init: init})
	return x
}

// array makes a register array and declares it; one value is a scalar.
func (l *lowering) array(name string, t dtype.Type, n int) *thr.Local {
	x := &thr.Local{Name: l.names.fresh(name), Type: thr.Val(t), Len: n}
	if n == 1 {
		x.Len = 0
	}
	l.emit(thr.Decl{At: l.at(), Local: x})
	return x
}

// unrolled emits a loop over [0, n) whose variable indexes registers; a single iteration needs no loop.
func (l *lowering) unrolled(n int, body func(i thr.Expr)) {
	if n == 1 {
		body(i32(0))
		return
	}
	v := &thr.Local{Name: l.names.loop(), Type: thr.Val(dtype.I32)}
	b := l.into(func() { body(ref(v)) })
	l.names.endLoop()
	l.emit(thr.For{At: l.at(), Var: v, Lo: i32(0), Hi: i32(n), Step: i32(1), Unroll: true, Body: b})
}

// region lowers the ops of a region in order.
func (l *lowering) region(r *ir.Region) {
	for _, v := range r.Ops {
		if l.err != nil {
			return
		}
		if !l.flow.live[v] || l.flow.canonical(v) != v {
			continue
		}
		switch {
		case ir.Table[v.Op].Pure():
		case v.Op == ir.Get && v.Type.Span != nil:
			l.gets = append(l.gets, v)
		case isSink(v):
			if !l.joins(v) {
				l.flush()
			}
			l.batch = append(l.batch, v)
		default:
			l.flush()
			l.cur = v
			l.effect(v)
			l.done[v] = true
		}
		for _, slot := range l.ends[v] {
			l.flush()
			l.endFill(l.fills[slot])
		}
	}
	l.flush()
	if r.Yield != nil {
		l.scalar(r.Yield)
	}
}

// isSink reports whether an op ends a batch's loop: it consumes a tile element by element.
func isSink(v *ir.Value) bool {
	switch v.Op {
	case ir.Var:
		return v.Type.Span != nil
	case ir.Set:
		return v.Args[0].Type.Span != nil
	case ir.Store:
		return v.Args[0].Type.Span != nil
	}
	return ir.Table[v.Op].Class == ir.Reduction
}

// operand is the tile that a sink consumes and the span of its loop.
func operand(v *ir.Value) (*ir.Value, *ir.Span) {
	switch v.Op {
	case ir.Var:
		return v.Args[0], v.Type.Span
	case ir.Set:
		return v.Args[1], v.Args[0].Type.Span
	}
	return v.Args[0], v.Args[0].Type.Span
}

// effect lowers an op that is neither pure nor part of a batch.
func (l *lowering) effect(v *ir.Value) {
	switch v.Op {
	case ir.Var:
		l.vars[v] = l.local(l.name(v, "var"), thr.Val(register(v.Type.DT)), l.scalar(v.Args[0]))
	case ir.Get:
		t := l.local(l.name(v, "val"), thr.Val(register(v.Type.DT)), ref(l.vars[v.Args[0]]))
		l.scalars[v] = ref(t)
	case ir.Set:
		l.emit(thr.Assign{At: l.at(), Dst: ref(l.vars[v.Args[0]]), Src: l.scalar(v.Args[1])})
	case ir.Load:
		if v.Type.Span == nil {
			l.loadScalar(v)
		} else {
			l.loadTile(v)
		}
	case ir.Store:
		l.storeScalar(v)
		l.fenceOperand(v)
	case ir.AtomicAdd, ir.AtomicMax, ir.AtomicMin, ir.AtomicExch, ir.AtomicCAS:
		l.atomic(v)
	case ir.CopyAsync:
		if v.Attr.(*ir.CopyInfo).Dst.Pipe != nil {
			l.fillCopy(v)
		} else {
			l.copyAsync(v, false)
		}
	case ir.Commit:
		l.emit(thr.Do{At: l.at(), Fn: thr.CpCommit})
	case ir.WaitGroup:
		l.emit(thr.Do{At: l.at(), Fn: thr.CpWait, Args: []thr.Expr{i32(int(v.Attr.(ir.Groups)))}})
		if l.copied {
			l.emit(thr.Do{At: l.at(), Fn: thr.FenceAsync})
		}
	case ir.MBarInit:
		l.initBarriers(v)
	case ir.MBarArrive, ir.MBarArriveTx, ir.MBarExpectTx, ir.MBarTest, ir.MBarTry, ir.MBarWait, ir.MBarTrack, ir.MBarInval:
		l.barrierOp(v)
	case ir.CopyBulk, ir.StoreBulk:
		l.bulk(v)
	case ir.CopyTensor, ir.MulticastTensor, ir.StoreTensor, ir.ReduceTensor, ir.PrefetchTensor:
		l.tensor(v)
	case ir.CommitBulk:
		l.emit(thr.Do{At: l.at(), Fn: thr.BulkCommit, Pred: l.leader(v.Scope)})
	case ir.WaitBulk:
		l.waitBulk(v, thr.BulkWait)
	case ir.WaitBulkRead:
		l.waitBulk(v, thr.BulkWaitRead)
	case ir.NamedSync, ir.NamedArrive:
		n, f := v.Attr.(*ir.Named), thr.NamedSync
		if v.Op == ir.NamedArrive {
			f = thr.NamedArrive
		}
		l.emit(thr.Do{At: l.at(), Fn: f, Args: []thr.Expr{i32(n.ID), i32(n.Threads)}})
	case ir.PipeInit:
		l.initPipe(v)
	case ir.SlotAcquire:
		l.acquireSlot(v)
	case ir.SlotWait:
		l.waitSlot(v)
	case ir.SlotRelease:
		l.releaseSlot(v)
	case ir.SetMaxRegs: // by the role
	case ir.Roles:
		l.roles(v)
	case ir.LoadMatrix:
		l.loadMatrix(v)
	case ir.StoreMatrix:
		l.storeMatrix(v)
		l.fenceOperand(v)
	case ir.MoveMatrix:
		l.moveMatrix(v)
	case ir.MMA:
		l.mma(v)
	case ir.WaitMMA:
		if l.t.Has(target.WGMMA) && v.Scope == ir.ScopeGroup {
			l.emit(thr.Do{At: l.at(), Fn: thr.WGMMAWait, Args: []thr.Expr{i32(int(v.Attr.(ir.Groups)))}})
		}
	case ir.FenceAsync, ir.FenceAsyncGlobal, ir.FenceCluster, ir.LaunchDependents, ir.WaitPrerequisites:
		l.emit(thr.Do{At: l.at(), Fn: plainFns[v.Op]})
	case ir.MBarArriveAt:
		l.arriveAt(v)
	case ir.MBarArriveAll:
		l.arriveAll(v)
	case ir.StoreAsync:
		l.storeAsync(v)
	case ir.BroadcastAsync:
		l.broadcastAsync(v)
	case ir.CumSum, ir.CumMax, ir.CumMin, ir.CumProd:
		l.scan(v)
	case ir.Redistribute:
		l.redistribute(v)
	case ir.InverseUnitLower:
		l.inverseUnitLower(v)
	case ir.Barrier:
		l.meet(v.Scope)
	case ir.ClusterBarrier:
		l.emit(thr.Do{At: l.at(), Fn: thr.ClusterSync})
	case ir.Range, ir.Persistent:
		l.loop(v)
	case ir.If:
		l.conditional(v)
	case ir.While:
		l.while(v)
	default:
		l.fail(v.Pos, "plan: op %s has no lowering", v.Op)
	}
}

// plainFns are the built-ins of ops that each thread executes, without operands.
var plainFns = map[ir.Op]thr.Fn{ir.FenceAsync: thr.FenceAsync, ir.FenceAsyncGlobal: thr.FenceAsyncGlobal, ir.FenceCluster: thr.FenceCluster,
	ir.LaunchDependents: thr.GridLaunch, ir.WaitPrerequisites: thr.GridWait}

// register is the type that holds one value of an element type in a scalar: 16-bit floats as the f32 they equal.
// 8-bit types as their bits, since nothing computes with them.
func register(t dtype.Type) dtype.Type {
	switch {
	case t.Is16():
		return dtype.F32
	case t.Is8():
		return dtype.U32
	}
	return t
}
