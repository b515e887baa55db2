package ir

import "github.com/gotile/gotile/dtype"

// mark is what a second recording rolls back to.
type mark struct{ next, count, errs, shared int }

func (b *Builder) mark() mark {
	return mark{b.next, b.count, len(b.errs), len(b.Kernel.Shared)}
}

// region records f into a new region of owner.
func (b *Builder) region(owner *Value, ind bool, f func(r *Region)) *Region {
	r := &Region{Owner: owner, Parent: b.cur}
	if ind {
		r.Ind = &Value{ID: b.next, Op: Invalid, Type: Type{DT: dtype.I32}, In: r, Scope: owner.Scope, Pos: owner.Pos}
		b.next++
	}
	b.cur = r
	f(r)
	b.cur = r.Parent
	return r
}

// twice records a loop's regions, then records them again and compares: Go state that a body carries from one
// iteration to the next shows as a difference. The second recording is dropped. A loop inside a second recording is
// recorded once: the first recording of the same body has checked it. So a body at depth d runs d+1 times.
//
// record returns false when the body left early.
func (b *Builder) twice(loop *Value, record func() ([]*Region, bool)) {
	before := b.mark()
	regions, whole := record()
	loop.Regions = regions
	if !whole {
		for _, e := range b.errs[before.errs:] {
			if e.Rule == ErrControl { // a loop inside has reported the same return
				return
			}
		}
		b.errorAt(loop.Pos, loop.Op, ErrControl, "break, return, goto or an outer continue leaves the body of this %s: the body is recorded, not run; use tile.If around what follows, or tile.While", Table[loop.Op].Go)
		return
	}
	if b.second > 0 || len(b.errs) > before.errs {
		return
	}
	after, shared := b.mark(), b.Kernel.Shared
	b.count, b.Kernel.Shared = before.count, shared[:before.shared:before.shared]
	b.second++
	again, whole := record()
	b.second--
	second := b.errs[after.errs:]
	b.next, b.count, b.errs, b.Kernel.Shared = after.next, after.count, b.errs[:after.errs:after.errs], shared
	const advice = "host state carried between iterations; use tile.NewVar"
	d := &differ{to: map[*Value]*Value{}}
	switch {
	case !whole:
		b.errorAt(loop.Pos, loop.Op, ErrControl, "%s: the body leaves this %s early when it is recorded again", advice, Table[loop.Op].Go)
	case !d.regions(regions, again):
		b.errorAt(d.pos, d.op, ErrControl, "%s: %s", advice, d.why)
	case len(second) > 0:
		b.errorAt(second[0].Pos, second[0].Op, ErrControl, "%s: only the second recording fails: %s", advice, second[0].Msg)
	}
}

// Loop records a Range. body returns false when it left early.
func (b *Builder) Loop(s Scope, lo, hi, step *Value, body func(i *Value) bool) {
	ok := b.executes(Range, s)
	for i, v := range []*Value{lo, hi, step} {
		ok = ok && v != nil && b.uniform(Range, s, [...]string{"the lower bound", "the upper bound", "the step"}[i], v)
	}
	if n, isConst := intConst(step); isConst && n <= 0 {
		b.Errorf(Range, ErrControl, "Range with step %d: steps are positive; count up and compute the index", n)
		ok = false
	} else if isConst && n > maxStep {
		b.Errorf(Range, ErrLimit, "Range with step %d: the 32-bit variable must not pass its end by more than %d; count by one and scale the index", n, maxStep)
		ok = false
	}
	b.loop(&Value{Op: Range, Args: []*Value{lo, hi, step}, Scope: s}, ok, body)
}

// maxStep bounds the step of a Range. A launch refuses dimensions within it of 2^31, so that counting over one does not
// overflow.
const maxStep = 1 << 16

// Persist records a Persistent loop over 0, step, .. < n.
func (b *Builder) Persist(n *Value, step int, info PersistentInfo, body func(i *Value) bool) {
	ok := n != nil
	switch {
	case b.cur != b.Kernel.Body:
		b.Errorf(Persistent, ErrControl, "Persistent stands inside the %s at %s: it shares out the grid, so it stands at the top level; use Range here", Table[b.cur.Owner.Op].Go, b.cur.Owner.Pos)
		ok = false
	case step <= 0:
		b.Errorf(Persistent, ErrControl, "Persistent with step %d: steps are positive; without tile.Step it is 1", step)
		ok = false
	case info.Each && (info.Blocks != nil || info.Scope == ScopeWarp):
		b.Errorf(Persistent, ErrControl, "OneBlockEach fixes the grid: it goes with a loop of the block, and not with Blocks")
		ok = false
	case info.Looped && !info.Each:
		b.Errorf(Persistent, ErrControl, "Looped without OneBlockEach: other loops are printed as such anyway; leave it out")
		ok = false
	case info.Blocks != nil && b.Kernel.Cluster > 0 && info.Scope != ScopeCluster:
		b.Errorf(Persistent, ErrControl, "Blocks with a loop of the %v in a kernel with clusters: a grid is whole clusters, so Blocks counts those; give Persistent the cluster as its scope", info.Scope)
		ok = false
	case ok && !hostValue(n):
		b.Errorf(Persistent, ErrControl, "the bound of Persistent is not known at launch; use dimensions, scalars and arithmetic on them, from which the grid is sized")
		ok = false
	}
	if v := b.persistent(); v != nil && ok && b.second == 0 {
		b.Errorf(Persistent, ErrControl, "a second Persistent (the first is at %s): a launch has one grid; join the loops, or define two kernels", v.Pos)
		ok = false
	}
	if ok && b.Kernel.Work != nil {
		b.Errorf(Persistent, ErrControl, "Persistent in a kernel with a Schedule: a launch has one grid; use the Tiles of the schedule")
		ok = false
	}
	b.loop(&Value{Op: Persistent, Args: []*Value{n, b.Int(step)}, Attr: &info, Scope: info.Scope}, ok, body)
}

// Schedule records that the grid's blocks share n pieces of work, by loops that step by the number of blocks.
func (b *Builder) Schedule(n *Value, blocks *Symbol) bool {
	switch {
	case b.poisoned(Persistent, n):
		return false
	case b.cur != b.Kernel.Body:
		b.Errorf(Persistent, ErrControl, "Schedule stands inside the %s at %s: it shares out the grid, so it stands at the top level; put it there, and loop over its Tiles here", Table[b.cur.Owner.Op].Go, b.cur.Owner.Pos)
		return false
	case !hostValue(n):
		b.Errorf(Persistent, ErrControl, "the work of Schedule is not known at launch; use dimensions, scalars and arithmetic on them, from which the grid is sized")
		return false
	case b.Kernel.Work != nil || b.persistent() != nil:
		b.Errorf(Persistent, ErrControl, "a second Schedule, or one beside Persistent: a launch has one grid; use the Tiles of one Schedule in all roles")
		return false
	}
	b.Kernel.Work, b.Kernel.WorkBlocks = n, blocks
	return true
}

// persistent is the kernel's Persistent loop; nil: it has none.
func (b *Builder) persistent() *Value {
	for _, v := range b.Kernel.Body.Ops {
		if v.Op == Persistent {
			return v
		}
	}
	return nil
}

// hostValue reports whether the host can compute a value before the launch.
func hostValue(v *Value) bool {
	switch {
	case v.Op == Invalid || v.Op == Asm || Table[v.Op].Class != Leaf && Table[v.Op].Class != Elementwise:
		return false
	}
	for _, a := range v.Args {
		if !hostValue(a) {
			return false
		}
	}
	return true
}

// loop records a loop with an induction variable. A loop with a bad head is recorded too, for the mistakes in its
// body; its induction variable is fine to use.
func (b *Builder) loop(v *Value, ok bool, body func(i *Value) bool) {
	if !ok {
		v.Args = nil
	}
	if b.emit(v) == nil {
		v.Args = nil // a bound escaped
	}
	b.twice(v, func() ([]*Region, bool) {
		whole := true
		r := b.region(v, true, func(r *Region) { whole = body(r.Ind) })
		return []*Region{r}, whole
	})
}

// If records a conditional; els may be nil.
func (b *Builder) If(s Scope, cond *Value, then, els func()) {
	v := &Value{Op: If, Scope: s}
	if b.executes(If, s) && cond != nil && b.uniform(If, s, "the condition", cond) {
		v.Args = []*Value{cond}
	}
	b.emit(v)
	v.Regions = []*Region{b.region(v, false, func(*Region) { then() }), nil}
	if els != nil {
		v.Regions[1] = b.region(v, false, func(*Region) { els() })
	}
}

// While records a loop with a condition.
func (b *Builder) While(s Scope, cond func() *Value, body func()) {
	b.executes(While, s)
	v := &Value{Op: While, Scope: s}
	b.emit(v)
	b.twice(v, func() ([]*Region, bool) {
		head := b.region(v, false, func(r *Region) {
			c := cond()
			if c == nil || !b.uniform(While, s, "the condition", c) {
				return
			}
			if !b.visible(c) {
				b.escape(v, c)
				return
			}
			r.Yield = c
		})
		return []*Region{head, b.region(v, false, func(*Region) { body() })}, true
	})
}
