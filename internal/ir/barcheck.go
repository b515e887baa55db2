package ir

import "slices"

// What is wrong with mbarriers by the text alone: arrays that nobody arrives at, or whose bytes have no copy; arrivals that
// are more than a phase takes; and, where all ops of an mbarrier are the block's, one behind the other, its phases, which
// phaseCheck follows. What depends on who comes when the simulator finds.

// barrierUse is how a kernel uses an array of mbarriers: the first op of each sort.
type barrierUse struct {
	wait, arrive, expect, complete *Value
	arrivals                       int // of a phase; 0: known at run time only
}

// checkBarriers checks all mbarriers once the kernel is recorded. A kernel with other mistakes is not checked: its ops are
// not all there.
func (b *Builder) checkBarriers() {
	if len(b.errs) > 0 || len(b.Kernel.Barriers) == 0 {
		return
	}
	uses := map[*MBarrier]*barrierUse{}
	for _, m := range b.Kernel.Barriers {
		uses[m] = &barrierUse{}
	}
	EachOp(b.Kernel.Body, func(v *Value) {
		m, _ := barrierOf(v)
		if m == nil {
			return
		}
		u := uses[m]
		first := func(at **Value) {
			if *at == nil {
				*at = v
			}
		}
		switch v.Op {
		case MBarInit:
			u.arrivals, _ = intConst(v.Args[0])
		case MBarWait, MBarTest, MBarTry:
			first(&u.wait)
		case MBarArriveTx, MBarExpectTx:
			if n, ok := intConst(v.Args[1]); !ok || n > 0 {
				first(&u.expect)
			}
			if v.Op == MBarArriveTx {
				first(&u.arrive)
			}
		case MBarArrive, MBarArriveAt, MBarArriveAll:
			first(&u.arrive)
			b.tooMany(v, u.arrivals)
		case CopyBulk, CopyTensor, MulticastTensor, StoreAsync, BroadcastAsync:
			first(&u.complete)
		}
	})
	for _, m := range b.Kernel.Barriers {
		b.checkUse(m, uses[m])
	}
	if len(b.errs) == 0 {
		for _, m := range b.Kernel.Barriers {
			b.followPhases(m, uses[m].arrivals)
		}
	}
}

// checkUse refuses an array whose phases cannot end.
func (b *Builder) checkUse(m *MBarrier, u *barrierUse) {
	switch {
	case u.wait != nil && u.arrive == nil:
		b.errorAt(u.wait.Pos, u.wait.Op, ErrControl, "%s of the mbarriers made at %s, at which nobody arrives: their phases take %s and never end; arrive, by ArriveOnce or ArriveExpect, where what is waited for is done",
			Table[u.wait.Op].Go, m.Pos, arrivals(u.arrivals))
	case u.expect != nil && u.complete == nil:
		b.errorAt(u.expect.Pos, u.expect.Op, ErrControl, "%s at the mbarriers made at %s, where no copy completes bytes: the phase never ends; name the mbarrier in the copy whose bytes are expected, or use ArriveOnce",
			Table[u.expect.Op].Go, m.Pos)
	case u.complete != nil && u.expect == nil:
		b.errorAt(u.complete.Pos, u.complete.Op, ErrControl, "%s completes its bytes at the mbarriers made at %s, where nobody expects any: phases end before the bytes are there; give what it returns to ArriveExpect or Expect",
			Table[u.complete.Op].Go, m.Pos)
	}
}

// arrivals is a number of arrivals in words; 0: it is not known.
func arrivals(n int) string {
	if n == 0 {
		return "arrivals"
	}
	return Count(n, "arrival")
}

// broughtBy is how many arrivals one execution of an op brings; 0: it is not known.
func (b *Builder) broughtBy(v *Value) int {
	if v.Op == MBarArriveTx {
		return 1
	}
	n, ok := intConst(v.Args[1])
	switch r := v.In.InRole(); {
	case !ok:
		return 0
	case v.Attr.(*BarrierInfo).Leader:
		return n
	case v.Scope == ScopeWarp:
		return 32 * n
	case v.Scope == ScopeGroup && r != nil:
		return 32 * r.Warps * n
	}
	return b.Kernel.Threads * n
}

// tooMany refuses an op that brings more arrivals than a phase takes.
func (b *Builder) tooMany(v *Value, takes int) {
	if v.Op != MBarArrive || takes == 0 {
		return
	}
	if n := b.broughtBy(v); n > takes {
		b.errorAt(v.Pos, v.Op, ErrLimit, "%s at scope %v is %s, one of each thread, at mbarriers made at %s for %d a phase: the phase would be over before all have come; make them for %d, or use ArriveOnce",
			Table[v.Op].Go, v.Scope, Count(n, "arrival"), v.Attr.(*BarrierInfo).Bar.Pos, takes, n)
	}
}

// barrierOf is the array of mbarriers that an op names, and which of it; nil: none.
func barrierOf(v *Value) (*MBarrier, *Value) {
	switch a := v.Attr.(type) {
	case *BarrierInfo:
		if v.Op == MBarInit {
			return a.Bar, nil
		}
		return a.Bar, v.Args[0]
	case *BulkInfo:
		if a.Bar != nil {
			return a.Bar, v.Args[len(v.Args)-1]
		}
	case *TensorInfo:
		if a.Bar != nil {
			return a.Bar, v.Args[len(a.Shared.Shape)+len(a.Arg.Dims)]
		}
	case *RemoteInfo:
		return a.Bar, nil
	}
	return nil, nil
}

// phaseCheck follows the phases of one mbarrier through ops of the block.
type phaseCheck struct {
	b       *Builder
	bar     *MBarrier
	i       int
	count   int
	phase   int            // under way
	pending int            // arrivals that it lacks
	bytes   map[*Value]int // expected and not copied: a sum of values times factors; that of nil is a constant
	seen    int            // phases before it have been waited for
	tokens  map[*Value]int // phases of tokens
	last    *Value         // what brought the last arrival or bytes
	inval   *Value
	lost    bool // it depends on what is not known here
}

// followPhases checks the mbarriers of an array whose ops are all the block's, at the top level or in loops of it, with
// indices and counts that are known.
func (b *Builder) followPhases(m *MBarrier, count int) {
	if count == 0 {
		return
	}
	known, indices := true, []int{}
	EachOp(b.Kernel.Body, func(v *Value) {
		bar, i := barrierOf(v)
		if bar != m || v.Op == MBarInit {
			return
		}
		n, ok := intConst(i)
		switch v.Op {
		case MBarArrive, MBarArriveTx, MBarExpectTx, MBarWait, MBarTrack, MBarInval, CopyBulk, CopyTensor:
		default:
			ok = false
		}
		for r := v.In; r != nil && r.Owner != nil; r = r.Owner.In {
			ok = ok && (r.Owner.Op == Range || r.Owner.Op == Persistent) && r.Owner.Scope == ScopeBlock
		}
		if known = known && ok && v.Scope == ScopeBlock; ok && !slices.Contains(indices, n) {
			indices = append(indices, n)
		}
	})
	if !known {
		return
	}
	for _, i := range indices {
		p := &phaseCheck{b: b, bar: m, i: i, count: count, pending: count, bytes: map[*Value]int{}, tokens: map[*Value]int{}}
		p.region(b.Kernel.Body)
	}
}

// region follows the ops of a region; loops whose iterations are not known for two iterations.
func (p *phaseCheck) region(r *Region) {
	for _, v := range r.Ops {
		if p.lost {
			return
		}
		if len(v.Regions) == 0 {
			p.op(v)
			continue
		}
		used := false
		EachOp(v.Regions[0], func(w *Value) {
			bar, i := barrierOf(w)
			n, _ := intConst(i)
			used = used || bar == p.bar && n == p.i
		})
		if !used {
			continue
		}
		n, exact := trips(v)
		for range min(n, 2) {
			p.region(v.Regions[0])
		}
		p.lost = p.lost || !exact || n > 2
	}
}

// trips is how often a loop runs, and whether that is certain.
func trips(v *Value) (n int, exact bool) {
	if i, ok := v.Attr.(*PersistentInfo); ok && i.Each {
		return 1, true
	}
	if v.Op == Range {
		lo, ok := intConst(v.Args[0])
		hi, ok2 := intConst(v.Args[1])
		step, ok3 := intConst(v.Args[2])
		if ok && ok2 && ok3 && step > 0 {
			return max(0, (hi-lo+step-1)/step), true
		}
	}
	return 2, false
}

func (p *phaseCheck) op(v *Value) {
	bar, i := barrierOf(v)
	if n, _ := intConst(i); bar != p.bar || v.Op == MBarInit || n != p.i {
		return
	}
	if p.inval != nil {
		p.refuse(v, "%s of mbarrier %d of those made at %s, which Inval has ended at %s; drop the call, or end it later", Table[v.Op].Go, p.i, p.bar.Pos, p.inval.Pos)
		return
	}
	switch v.Op {
	case MBarExpectTx:
		p.add(v.Args[1], 1)
		p.last = v
		p.complete(v)
	case MBarArriveTx:
		p.add(v.Args[1], 1)
		p.arrive(v)
	case MBarArrive:
		p.tokens[v] = p.phase
		p.arrive(v)
	case CopyBulk:
		p.add(v.Args[len(v.Args)-2], -v.Attr.(*BulkInfo).Arg.DT.Size())
		p.complete(v)
	case CopyTensor:
		a := v.Attr.(*TensorInfo)
		p.bytes[nil] -= a.Shared.boxBytes(a.Rank)
		p.complete(v)
	case MBarWait:
		p.wait(v)
	case MBarInval:
		p.inval = v
	}
}

// add adds a value times a factor to the bytes that have yet to come.
func (p *phaseCheck) add(v *Value, factor int) {
	if n, ok := intConst(v); ok {
		p.bytes[nil] += n * factor
		return
	}
	switch v.Op {
	case Add:
		p.add(v.Args[0], factor)
		p.add(v.Args[1], factor)
		return
	case Mul:
		if n, ok := intConst(v.Args[1]); ok {
			p.add(v.Args[0], n*factor)
			return
		}
	}
	if p.bytes[v] += factor; p.bytes[v] == 0 {
		delete(p.bytes, v)
	}
}

// refuse reports a mistake; one of an mbarrier is enough.
func (p *phaseCheck) refuse(v *Value, format string, args ...any) {
	p.b.errorAt(v.Pos, v.Op, ErrControl, format, args...)
	p.lost = true
}

func (p *phaseCheck) arrive(v *Value) {
	n := p.b.broughtBy(v)
	if n == 0 {
		p.lost = true
		return
	}
	if p.pending -= n; p.pending < 0 {
		p.refuse(v, "%s brings %s to phase %d of mbarrier %d of those made at %s, which lacks %d of %d: wait for the phase before, or make them for as many as arrive",
			Table[v.Op].Go, Count(n, "arrival"), p.phase, p.i, p.bar.Pos, p.pending+n, p.count)
		return
	}
	p.last = v
	p.complete(v)
}

// complete ends the phase if nothing is lacking.
func (p *phaseCheck) complete(v *Value) {
	left := p.bytes[nil]
	if p.pending > 0 || left != 0 || len(p.bytes) > 1 || len(p.bytes) == 1 && !p.constant() {
		return
	}
	if p.seen < p.phase {
		p.refuse(v, "%s ends phase %d of mbarrier %d of those made at %s, and nobody has waited for phase %d: its parity, %d, is that of phase %d too; wait for each phase, parity %d comes next",
			Table[v.Op].Go, p.phase, p.i, p.bar.Pos, p.seen, p.seen&1, p.seen+2, p.seen&1)
		return
	}
	p.phase++
	p.pending = p.count
}

// constant reports whether the bytes that have yet to come are a known number.
func (p *phaseCheck) constant() bool {
	_, has := p.bytes[nil]
	return len(p.bytes) == 0 || len(p.bytes) == 1 && has
}

func (p *phaseCheck) wait(v *Value) {
	x := v.Args[1]
	of, isToken := p.tokens[x]
	parity, isConst := intConst(x)
	switch {
	case isToken:
	case !isConst:
		p.lost = true // which phases are seen is not known
		return
	case p.seen < p.phase: // phase seen is over
		if of = p.seen; of&1 != parity {
			p.refuse(v, "%s of parity %d of mbarrier %d of those made at %s: phase %d, which %s at %s ends, has parity %d; use that, and count phases in a tile.Var where a loop goes round",
				Table[v.Op].Go, parity, p.i, p.bar.Pos, of, Table[p.last.Op].Go, p.last.Pos, of&1)
			return
		}
	case p.phase&1 != parity:
		return // it passes, for the phase before
	default:
		of = p.phase
	}
	if of < p.phase {
		p.seen = max(p.seen, of+1)
		return
	}
	switch { // the phase under way, which nobody can end: all of the block wait
	case !p.constant():
		p.lost = true
	case p.pending > 0:
		p.refuse(v, "%s of phase %d of mbarrier %d of those made at %s never ends: %d of %s have come, and all of the block's threads wait; arrive before, or make them for %d",
			Table[v.Op].Go, of, p.i, p.bar.Pos, p.count-p.pending, Count(p.count, "arrival"), max(1, p.count-p.pending))
	default:
		what, n := "expected that no copy before completes", p.bytes[nil]
		if n < 0 {
			what, n = "copied that nobody expects", -n
		}
		p.refuse(v, "%s of phase %d of mbarrier %d of those made at %s never ends: %s are %s; expect what CopyBulk and CopyTensor return", Table[v.Op].Go, of, p.i, p.bar.Pos, Count(n, "byte"), what)
	}
}
