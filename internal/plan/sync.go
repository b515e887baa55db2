package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// synchronise inserts barriers between accesses that would race: a read after a write, a write after a read, a write
// after another op's write, of shared memory and of each global argument. Around a
// loop's back edge the end of the body meets its beginning. Conflicts within one scope are ordered with that scope's
// barrier; a conflict between scopes is an error, since only the author knows who should wait for whom. Other blocks,
// and arguments that share memory, are the author's business. What the blocks of a cluster do to one another is in
// sync_cluster.go.
func synchronise(s *state) error {
	y := &syncer{global: globalUses(s.k, s.flow), slots: sharedSlots(s.k, s.flow), origins: s.origins, copies: copyUses(s.k), whole: wholeUses(s.k), groups: mostGroups(s.k)}
	y.reach(s.out.Body)
	var h hazards
	s.out.Body, h = y.block(s.out.Body, y.entry(), 0)
	s.out.Body = append(s.out.Body, h.exit()...)
	if y.err == nil && s.k.Cluster > 0 && !y.ordered(s.k) {
		s.out.Body = y.split(s.out.Body)
	}
	return y.err
}

// touch is an access to a buffer since the last barrier.
type touch struct {
	mem   any     // *thr.SharedBuf or *ir.Arg
	where string  // of an argument, and of a copy: who touches which elements; the same: each thread its own ones
	rows  string  // of an argument: the offsets in the dimensions before the tile's own, ? where not constant
	cols  stretch // of an argument: where the tile lies along its last axis
	apart bool    // of an argument: what the op touches in two iterations of a loop does not overlap
	op    int     // tile op
	lap   int     // how many back edges ago: an op's stores conflict with those of its last iteration
	write bool
	scope ir.Scope
	peer  bool   // of the shared memory of another block
	rank  string // of a peer: which block, where it is constant
	// arrived says that the threads have since arrived at a barrier of the cluster, which they are still to wait for.
	arrived bool
	past    ir.Scope // the widest barrier that has followed: what a wider scope does with the memory is not ordered yet
	// Of an asynchronous copy that may be in flight: 1, and 1 for each Commit since; 0: it is over, or never was one.
	flight int
	waited bool // it is committed, and some WaitGroup followed
}

// hazards are the accesses that no barrier has yet separated from what follows.
type hazards map[touch]ir.Pos

type syncer struct {
	global    map[int]touch // by tile op: loads and stores of arguments that are written
	slots     map[use]slot  // which part of a shared tile an op accesses
	origins   map[*thr.SharedBuf]origin
	copies    map[int]string   // by tile op: of asynchronous copies, which thread writes what, as touch.where
	whole     map[int]string   // by tile op: of accesses of whole boxes of a shared tile, the same
	groups    int              // the most groups that a WaitGroup leaves in flight
	widest    map[any]ir.Scope // by memory: the widest scope that accesses it, the cluster's for peers
	releases  ir.Scope         // the widest scope that releases
	role      *thr.Role        // whose statements these are; nil: none's
	mine      map[any]roleUse  // what it accesses, by memory
	warpFlow  int              // depth of control flow on which only a warp agrees
	groupFlow int              // the same of a group
	blockFlow int              // and of a block
	err       error
}

func join(a, b hazards) hazards {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func (y *syncer) block(body []thr.Stmt, in hazards, lap int) ([]thr.Stmt, hazards) {
	var out []thr.Stmt
	h := maps.Clone(in)
	for _, s := range body {
		switch s := s.(type) {
		case thr.Load:
			out = y.access(out, h, s.At, y.touch(s.Space, s.Buf, s.Scope, s.Op, lap, false).of(s.Rank))
			out = append(out, s)
			h.acquired(s.At, s.Order, s.Scope)
		case thr.Store:
			out = y.release(out, h, s.At, s.Order, s.Scope)
			t := y.touch(s.Space, s.Buf, s.Scope, s.Op, lap, true).of(s.Rank)
			if where := y.copies[s.Op]; where != "" && s.Space == thr.Shared {
				t.flight, t.where = 1, where // through registers, by the same rules
			}
			out = y.access(out, h, s.At, t)
			out = append(out, s)
		case thr.Do:
			if of := barrierScope(s); of != ir.NoScope {
				y.clear(h, of)
				out = append(out, s)
				continue
			}
			switch s.Fn {
			case thr.ClusterArrive:
				h.arrive()
			case thr.ClusterWait:
				y.waited(h)
			case thr.CpAsync, thr.CpAsync8, thr.CpAsync4:
				t := y.touch(thr.Shared, s.Buf, s.Scope, s.Op, lap, true)
				t.flight, t.where = 1, y.copies[s.Op]
				out = y.access(out, h, s.At, t)
			case thr.LdMatrix, thr.LdMatrixTrans, thr.StMatrix, thr.StMatrixTrans:
				out = y.access(out, h, s.At, y.touch(thr.Shared, s.Buf, s.Scope, s.Op, lap, s.Fn.Writes()))
			case thr.WGMMA, thr.WGMMARegs:
				for _, b := range []*thr.SharedBuf{s.Buf, s.BufB} {
					if b != nil {
						out = y.access(out, h, s.At, y.touch(thr.Shared, b, s.Scope, s.Op, lap, false))
					}
				}
			case thr.WGMMAWait: // until here the tiles were read, whatever barriers came before
				for _, e := range s.Ends {
					if t := y.touch(thr.Shared, e.Buf, e.Scope, e.Op, lap, false); t.mem != nil {
						h[t] = e.Pos
					}
				}
			case thr.WGMMAFence, thr.WGMMACommit:
			case thr.CpCommit:
				h.commit(y.groups)
			case thr.CpWait:
				h.wait(s.Args[0])
			default: // an atomic; other built-ins touch nothing here
				t := y.touch(thr.Global, nil, y.global[s.Op].scope, s.Op, lap, true)
				out = y.release(out, h, s.At, s.Order, t.scope)
				out = y.access(out, h, s.At, t)
				out = append(out, s)
				h.acquired(s.At, s.Order, t.scope)
				continue
			}
			out = append(out, s)
		case thr.If:
			if s.Roles[0] != nil {
				out, h = y.roles(out, s, h, lap)
				continue
			}
			y.enter(s.Scope)
			branches := func(h hazards) (then, els []thr.Stmt, after hazards) {
				then, a := y.block(s.Then, h, lap)
				els, b := y.block(s.Else, h, lap)
				return then, els, join(a, b)
			}
			then, els, after := branches(h)
			if i := inserted(s.Then, then); i >= 0 && inserted(s.Else, els) >= 0 { // one for both, before, if it serves both
				a, b, c := branches(y.past(h, then[i]))
				if barriers(a) < barriers(then) && barriers(b) < barriers(els) {
					out = append(out, then[i])
					then, els, after = a, b, c
				}
			}
			y.leave(s.Scope)
			s.Then, s.Else, h = then, els, after
			out = append(out, s)
		case thr.For:
			y.enter(s.Scope)
			if s.Unroll {
				out, s.Body, h = y.unrolled(out, s.Body, h, lap)
			} else {
				s.Body, h = y.loop(s.Body, h, lap)
			}
			y.leave(s.Scope)
			out = append(out, s)
		case thr.While:
			y.enter(s.Scope)
			s.Head, s.Body, h = y.while(s.Head, s.Body, h, lap)
			y.leave(s.Scope)
			out = append(out, s)
		default:
			out = append(out, s)
		}
	}
	return out, h
}

// unrolled puts a barrier that a loop of one op needs before the loop, where it is executed once.
func (y *syncer) unrolled(out, body []thr.Stmt, h hazards, lap int) ([]thr.Stmt, []thr.Stmt, hazards) {
	inside, after := y.block(body, h, lap)
	if i := inserted(body, inside); i >= 0 {
		if a, b := y.block(body, y.past(h, inside[i]), lap); barriers(a) < barriers(inside) {
			return append(out, inside[i]), a, b
		}
	}
	return out, inside, after
}

// barriers counts those of a block, without the blocks in it.
func barriers(body []thr.Stmt) (n int) {
	for _, s := range body {
		if isBarrier(s) {
			n++
		}
	}
	return n
}

// inserted finds the first barrier of a block that had none.
func inserted(before, after []thr.Stmt) int {
	if slices.ContainsFunc(before, isBarrier) {
		return -1
	}
	return slices.IndexFunc(after, isBarrier)
}

// past is what is left of the hazards after a barrier.
func (y *syncer) past(h hazards, barrier thr.Stmt) hazards {
	h = maps.Clone(h)
	y.clear(h, barrierScope(barrier))
	return h
}

// clear takes out what a barrier separates from what follows. What a wider scope accesses, or is to release, stays: it
// is only noted to be past the barrier.
func (y *syncer) clear(h hazards, of ir.Scope) {
	for t, pos := range maps.Clone(h) {
		if t.flight > 0 || of <= t.past || of < ir.ScopeBlock && t.scope > of { // only a WaitGroup ends a copy
			continue
		}
		delete(h, t)
		if t.past = of; of < y.needed(t) {
			h[t] = pos
		}
	}
}

// needed is the barrier that separates an access from whatever may follow.
func (y *syncer) needed(t touch) ir.Scope {
	widest := max(t.scope, y.widest[t.mem])
	if _, global := t.mem.(*ir.Arg); global || t.mem == acquires {
		widest = max(widest, y.releases)
	}
	return widest
}

// barrierScope is the scope whose threads meet at a statement; NoScope: it is no barrier. A named barrier of the author's,
// which has no scope, is none either: nobody knows who comes.
func barrierScope(s thr.Stmt) ir.Scope {
	d, _ := s.(thr.Do)
	switch d.Fn {
	case thr.WarpSync:
		return ir.ScopeWarp
	case thr.NamedSync:
		return d.Scope
	case thr.BlockSync:
		return ir.ScopeBlock
	case thr.ClusterSync:
		return ir.ScopeCluster
	}
	return ir.NoScope
}

func isBarrier(s thr.Stmt) bool { return barrierScope(s) != ir.NoScope }

// loop finds the fixed point: what reaches the top of the body is what comes before the loop and what the body leaves.
func (y *syncer) loop(body []thr.Stmt, before hazards, lap int) ([]thr.Stmt, hazards) {
	in := before
	for {
		out, after := y.block(body, in, lap)
		next := in.around(after, lap)
		if maps.Equal(next, in) || y.err != nil {
			return out, join(before, after)
		}
		in = next
	}
}

// while is loop for a loop that leaves after its head.
func (y *syncer) while(head, body []thr.Stmt, before hazards, lap int) ([]thr.Stmt, []thr.Stmt, hazards) {
	in := before
	for {
		h, leaving := y.block(head, in, lap)
		b, after := y.block(body, leaving, lap)
		next := in.around(after, lap)
		if maps.Equal(next, in) || y.err != nil {
			return h, b, leaving
		}
		in = next
	}
}

// around is what reaches the top of a loop's body: what did before and, one lap older, what the body leaves. It only
// grows, so that the search for the fixed point ends.
func (h hazards) around(after hazards, lap int) hazards {
	next := maps.Clone(h)
	for t, pos := range after {
		t.lap = lap + 1
		next[t] = pos
	}
	return next
}

// access puts a barrier before an access where one is needed, and notes the access.
func (y *syncer) access(out []thr.Stmt, h hazards, at thr.At, t touch) []thr.Stmt {
	if t.mem == nil {
		return out
	}
	out = y.acquire(out, h, at, t)
	y.refuseInFlight(h, at, t)
	conflicts := h.with(t)
	if i := slices.IndexFunc(conflicts, func(o touch) bool { return o.scope != t.scope && !o.peers(t) }); i >= 0 {
		if o := conflicts[i]; y.err == nil {
			y.err = positioned(ir.ErrScope, at.Pos, "%s is used at %s scope here and at %s scope at %s; put a %s.Sync() between the two", t.name(), t.scope, o.scope, h[o], max(t.scope, o.scope, y.widestHere()))
		}
		return out
	}
	y.accessed(at, t)
	barrier := ir.NoScope
	switch {
	case len(conflicts) == 0:
	case slices.ContainsFunc(conflicts, func(o touch) bool { return o.across(t) }):
		barrier = ir.ScopeCluster
		if y.agree() < ir.ScopeCluster && y.err == nil {
			y.err = positioned(ir.ErrScope, at.Pos, "%s needs a barrier of the cluster here, inside control flow on which only a %s agrees; use a loop or condition at cluster scope, or put a cluster.Sync() before it", t.name(), y.agree())
		}
	case t.scope == ir.ScopeWarp:
		barrier = ir.ScopeWarp
	case t.scope == ir.ScopeGroup:
		barrier = ir.ScopeGroup
		if y.warpFlow > 0 && y.err == nil {
			y.err = positioned(ir.ErrScope, at.Pos, "%s needs a barrier of the group here, inside control flow on which only a warp agrees; use a loop or condition at the group's scope", t.name())
		}
	default:
		barrier = ir.ScopeBlock
		if y.warpFlow > 0 && y.err == nil {
			y.err = positioned(ir.ErrScope, at.Pos, "%s needs a barrier of the block here, inside control flow on which only a warp agrees; use a loop or condition at block scope", t.name())
		}
	}
	if barrier != ir.NoScope {
		out = append(out, barrierOf(barrier, at, y.role))
		y.clear(h, barrier)
	}
	h[t] = at.Pos
	return out
}

// with lists the hazards that conflict with an access, in program order.
func (h hazards) with(t touch) []touch {
	var out []touch
	for o := range h {
		switch {
		case o.mem == entered:
			if t.peer {
				out = append(out, o)
			}
		case o.past >= o.between(t): // a barrier has followed
		case o.mem != t.mem, !o.write && !t.write, disjoint(o.rows, t.rows), o.cols.apart(t.cols): // nothing in common, or two reads
		case o.flight > 0: // no barrier ends a copy
		case o.peer && t.peer && o.rank != "" && t.rank != "" && o.rank != t.rank: // of two blocks
		case strings.HasPrefix(t.where, byCopy) && o.where == t.where: // the same thread's, in whatever stage
		case o.write && t.write && o.op == t.op && (o.lap == t.lap || t.apart):
			// One op's stores, in one iteration or to other rows in the next.
		case o.lap == t.lap && t.where != "" && o.where == t.where: // each thread's own elements
		case o.scope == t.scope && strings.HasPrefix(o.where, byLeader) && strings.HasPrefix(t.where, byLeader): // the leader's own
		default:
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b touch) int { return cmp.Or(a.op-b.op, a.lap-b.lap) })
	return out
}

// touch describes an access; the zero touch is one that cannot race.
func (y *syncer) touch(space thr.Space, buf *thr.SharedBuf, scope ir.Scope, op, lap int, write bool) touch {
	if space == thr.Shared && buf != nil && buf.Manual {
		return touch{}
	}
	t := touch{mem: buf, where: y.whole[op]}
	if space == thr.Global {
		t = y.global[op]
	}
	if t.mem == nil {
		return touch{}
	}
	t.op, t.lap, t.write, t.scope = op, lap, write, scope
	if scope == ir.NoScope {
		t.scope = ir.ScopeBlock
	}
	return t
}

func (t touch) name() string {
	if b, ok := t.mem.(*thr.SharedBuf); ok {
		return b.Name
	}
	return t.mem.(*ir.Arg).Field
}

// globalUses finds the accesses to arguments that a kernel stores to. Two that have the same distribution
// and the same offsets touch the same elements in each thread, and need no barrier.
func globalUses(k *ir.Kernel, f *flow) map[int]touch {
	uses := map[int]touch{}
	ir.EachOp(k.Body, func(v *ir.Value) {
		if ir.Table[v.Op].Class != ir.Memory {
			return
		}
		access := v.Attr.(*ir.Access)
		if access.Arg == nil || !access.Arg.Written {
			return
		}
		offsets, who := v.Args[len(v.Args)-access.Dims():], "all threads"
		if v.Op != ir.Load || access.Order != ir.Relaxed {
			who = byLeader
		}
		if s := v.Type.Span; s != nil {
			who = s.Dist.String()
			if v.Op != ir.Load && strings.Contains(who, ":0") { // one of the threads that hold copies
				who += " first"
			}
		}
		if v.Scope == ir.ScopeCluster {
			who += " of the cluster"
		}
		first := len(offsets) - v.Type.Span.Rank()
		apart := true
		var rows []string
		for i, o := range offsets {
			o = f.canonical(o)
			at := fmt.Sprintf("%p", o)
			if o.Op == ir.Const {
				at = fmt.Sprint(o.Attr)
			}
			who += " " + at
			if i >= first {
				apart = apart && (o.Op == ir.Const || strides(f, o, v.Type.Span.Dist.Shape[i-first]))
			} else {
				if o.Op != ir.Const {
					at = "?"
				}
				rows = append(rows, at)
			}
		}
		uses[v.ID] = touch{mem: access.Arg, where: who, rows: strings.Join(rows, ","), cols: stretchOf(f, v, offsets), apart: apart, scope: v.Scope}
	})
	return uses
}

// strides reports whether an offset is the variable of a loop that moves by at least n, and that begins at the same place
// whenever it is entered: otherwise another round of it lies across the tiles of the one before.
func strides(f *flow, o *ir.Value, n int) bool {
	if o.Op != ir.Invalid || o.In == nil || o.In.Owner == nil {
		return false
	}
	loop := o.In.Owner
	if loop.Op == ir.Range && inLoop(f.canonical(loop.Args[0])) {
		return false
	}
	step := loop.Args[len(loop.Args)-1]
	bits, ok := f.canonical(step).Attr.(ir.Bits)
	return ok && step.Op == ir.Const && int(int32(bits)) >= n
}

// disjoint reports whether two tiles of one argument lie in different rows for certain.
func disjoint(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, y := strings.Split(a, ","), strings.Split(b, ",")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] && x[i] != "?" && y[i] != "?" {
			return true
		}
	}
	return false
}

func (y *syncer) enter(s ir.Scope) { y.nest(s, 1) }
func (y *syncer) leave(s ir.Scope) { y.nest(s, -1) }

// nest counts control flow that not all threads agree on. Unrolled loops, which name no scope, have constant bounds.
func (y *syncer) nest(s ir.Scope, by int) {
	switch s {
	case ir.ScopeWarp:
		y.warpFlow += by
	case ir.ScopeGroup:
		y.groupFlow += by
	case ir.ScopeBlock:
		y.blockFlow += by
	}
}
