package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Multiplies of a warpgroup are in flight from where they are issued to a wait for their group. In between, the registers
// of their accumulators and of an operand A belong to them, and the tiles that they read may not be overwritten. This pass
// places the waits: in front of the first statement that does either, each for as few groups as it needs. A group is one
// MMA. What is in flight at a place, and after how many younger groups at least, is found by a walk over the statements, as
// in pass sync: around a loop until nothing changes.

// flight is what a multiply in flight has to do with: registers, or a tile in shared memory.
type flight struct {
	local *thr.Local
	adds  bool // an accumulator
	buf   *thr.SharedBuf
	prev  bool // buf has slots: the one that was read is to be given back
	op    int  // of buf that has none: the MMA
}

// flights are what is in flight, with the least number of younger groups; openGroup: in the group that is not closed.
type flights map[flight]int

const (
	openGroup = -1
	mostMMAs  = 7 // groups that the instruction can leave in flight
)

// awaiter is the pass.
type awaiter struct {
	*state
	at        map[int]thr.At          // of the MMAs
	rewritten map[*thr.SharedBuf]bool // tiles that their authors order, and write again when an MMA may have read them
}

// awaitMMAs is the pass.
func awaitMMAs(s *state) error {
	if !multiplies(s.out.Body...) {
		return nil
	}
	a := &awaiter{state: s, at: map[int]thr.At{}, rewritten: rewrittenTiles(s.out.Body)}
	body, f := a.block(s.out.Body, flights{})
	s.out.Body = a.drain(body, f)
	return nil
}

// multiplies reports whether statements have to do with multiplies of warpgroups.
func multiplies(body ...thr.Stmt) (found bool) {
	thr.Each(body, func(s thr.Stmt) {
		d, ok := s.(thr.Do)
		found = found || ok && (d.Fn.Warpgroup() || d.Fn == thr.WGMMAWait)
	})
	return found
}

// rewrittenTiles are the Manual tiles that are written in a loop, in a role, or after a multiply has read them: who arrives
// at a barrier may mean that they are free.
func rewrittenTiles(body []thr.Stmt) map[*thr.SharedBuf]bool {
	out, read := map[*thr.SharedBuf]bool{}, map[*thr.SharedBuf]bool{}
	var visit func(body []thr.Stmt, again bool)
	visit = func(body []thr.Stmt, again bool) {
		for _, s := range body {
			if b := written(s); b != nil && b.Manual && (again || read[b]) {
				out[b] = true
			}
			switch s := s.(type) {
			case thr.If:
				visit(s.Then, again || s.Roles[0] != nil)
				visit(s.Else, again || s.Roles[0] != nil)
			case thr.For:
				visit(s.Body, again || !s.Unroll)
			case thr.While:
				visit(s.Head, true)
				visit(s.Body, true)
			case thr.Do:
				if s.Fn.Warpgroup() {
					read[s.Buf], read[s.BufB] = true, true
				}
			}
		}
	}
	visit(body, false)
	return out
}

// written is the tile of the block that a statement itself writes, or lets be written; nil: none.
func written(s thr.Stmt) *thr.SharedBuf {
	switch s := s.(type) {
	case thr.Store:
		if s.Space == thr.Shared && s.Rank == nil {
			return s.Buf
		}
	case thr.Do:
		if s.Fn.CopyBytes() > 0 || s.Fn.Writes() || s.Fn == thr.BulkLoad || s.Fn == thr.TensorLoad || s.Fn == thr.TensorMulticast {
			return s.Buf
		}
	}
	return nil
}

// block places the waits of a list. What it declares ends with it.
func (a *awaiter) block(body []thr.Stmt, in flights) ([]thr.Stmt, flights) {
	var out []thr.Stmt
	f := maps.Clone(in)
	declared := map[*thr.Local]bool{}
	for _, s := range body {
		switch s := s.(type) {
		case thr.Decl:
			declared[s.Local] = true
		case thr.If:
			then, x := a.role(s.Roles[0], s.Then, f)
			els, y := a.role(s.Roles[1], s.Else, f)
			s.Then, s.Else, f = then, els, older(x, y)
			out = append(out, s)
			continue
		case thr.For:
			switch {
			case !multiplies(s): // as one statement
			case s.Unroll: // the multiplies of one MMA
				thr.Each(s.Body, func(s thr.Stmt) { a.issue(f, s) })
				out = append(out, s)
				continue
			default:
				top := s.Body
				f = a.loop(f, func(in flights) (after flights) {
					s.Body, after = a.block(top, in)
					return after
				})
				out = append(out, s)
				continue
			}
		case thr.While:
			if multiplies(s) {
				head, top := s.Head, s.Body
				var leaving flights
				a.loop(f, func(in flights) (after flights) {
					s.Head, leaving = a.block(head, in)
					s.Body, after = a.block(top, leaving)
					return after
				})
				f = leaving
				out = append(out, s)
				continue
			}
		case thr.Do:
			switch {
			case s.Fn.Warpgroup():
				a.issue(f, s)
				out = append(out, s)
				continue
			case s.Fn == thr.WGMMAFence:
				out = append(out, s)
				continue
			case s.Fn == thr.WGMMACommit:
				for k := range f {
					f[k]++
				}
				out = append(out, s)
				continue
			case s.Fn == thr.WGMMAWait:
				out = a.asked(out, f, s)
				continue
			}
		}
		if n, found := f.youngest(func(k flight) bool { return a.uses(s, k) }); found {
			out = a.wait(out, f, n, s.Place())
		}
		out = append(out, s)
	}
	if n, found := f.youngest(func(k flight) bool { return declared[k.local] }); found {
		out = a.wait(out, f, n, a.last(f))
	}
	return out, f
}

// role is a branch; that of a role ends with nothing in flight.
func (a *awaiter) role(r *thr.Role, body []thr.Stmt, in flights) ([]thr.Stmt, flights) {
	body, f := a.block(body, in)
	if r != nil {
		body = a.drain(body, f)
	}
	return body, f
}

// loop finds what is in flight at the top of a loop's body, and so behind the loop.
func (a *awaiter) loop(in flights, body func(in flights) flights) flights {
	for {
		next := older(in, body(in))
		if maps.Equal(next, in) {
			return in
		}
		in = next
	}
}

// older is what may be in flight where two ways meet.
func older(x, y flights) flights {
	out := maps.Clone(x)
	for k, n := range y {
		if m, ok := out[k]; !ok || n < m {
			out[k] = n
		}
	}
	return out
}

// youngest is the least number of younger groups of those flights for which is holds.
func (f flights) youngest(is func(flight) bool) (n int, found bool) {
	for k, age := range f {
		if is(k) && (!found || age < n) {
			n, found = age, true
		}
	}
	return n, found
}

// issue notes a multiply.
func (a *awaiter) issue(f flights, s thr.Stmt) {
	d, ok := s.(thr.Do)
	if !ok || !d.Fn.Warpgroup() {
		return
	}
	a.at[d.Op] = d.At
	f[flight{local: d.Frags[0].Local, adds: true}] = openGroup
	for _, r := range d.Frags[1:] {
		f[flight{local: r.Local}] = openGroup
	}
	for _, b := range []*thr.SharedBuf{d.Buf, d.BufB} {
		switch {
		case b == nil:
		case a.origins[b].pipe != nil:
			f[flight{buf: b}] = openGroup
		default:
			f[flight{buf: b, op: d.Op}] = openGroup
		}
	}
}

// asked places a wait that the author asked for, or the one that a release of a slot needs.
func (a *awaiter) asked(out []thr.Stmt, f flights, s thr.Do) []thr.Stmt {
	n, _ := intOf(s.Args[0])
	if s.Buf == nil {
		if _, found := f.youngest(func(k flight) bool { return f[k] >= n }); found {
			out = a.wait(out, f, n, s.At)
		}
		return out
	}
	if n, found := f.youngest(func(k flight) bool { return k.buf == s.Buf && (k.prev || n == 0) }); found {
		out = a.wait(out, f, n, s.At)
	}
	if age, ok := f[flight{buf: s.Buf}]; ok { // to be given back by the next one
		delete(f, flight{buf: s.Buf})
		f[flight{buf: s.Buf, prev: true}] = age
	}
	return out
}

// uses reports whether a statement does what may not be done while a multiply is in flight.
func (a *awaiter) uses(s thr.Stmt, k flight) (found bool) {
	thr.Each([]thr.Stmt{s}, func(s thr.Stmt) {
		switch {
		case k.local != nil:
			found = found || names(s, k.local)
		default:
			found = found || written(s) == k.buf || a.rewritten[k.buf] && a.signals(s)
		}
	})
	return found
}

// signals reports whether others may learn by a statement that a tile is free: it is a barrier, or arrives at one that is
// no pipeline's.
func (a *awaiter) signals(s thr.Stmt) bool {
	d, ok := s.(thr.Do)
	if !ok {
		return false
	}
	switch d.Fn {
	case thr.BlockSync, thr.NamedSync, thr.NamedArrive, thr.ClusterSync, thr.ClusterArrive:
		return true
	}
	return d.Fn.Arrives() && a.origins[d.Bar].pipe == nil
}

// names reports whether a statement itself has a local.
func names(s thr.Stmt, l *thr.Local) bool {
	found := false
	refs := func(es ...thr.Expr) {
		for _, e := range es {
			rewriteExpr(e, func(e thr.Expr) thr.Expr {
				r, ok := e.(thr.Ref)
				found = found || ok && r.Local == l
				return e
			})
		}
	}
	switch s := s.(type) {
	case thr.Decl:
		refs(s.Init)
	case thr.Assign:
		refs(s.Dst, s.Src, s.Pred)
	case thr.For:
		refs(s.Lo, s.Hi, s.Step)
	case thr.While:
		refs(s.Cond)
	case thr.If:
		refs(s.Cond)
	case thr.Load:
		refs(s.Addr, s.Pred)
		found = found || s.Dst == l
	case thr.Store:
		refs(s.Value, s.Addr, s.Pred)
		found = found || s.Src == l
	case thr.Do:
		refs(append(s.Args, s.Pred)...)
		if s.Dst != nil {
			refs(*s.Dst)
		}
		for _, f := range s.Frags {
			found = found || f.Local == l
		}
	case thr.Asm:
		refs(append(s.Args, s.Dst)...)
	}
	return found
}

// last is the place of the last MMA in flight that reads a tile.
func (a *awaiter) last(f flights) thr.At {
	op := 0
	for k := range f {
		op = max(op, k.op)
	}
	return a.at[op]
}

// drain waits at the end of a list for all that is in flight.
func (a *awaiter) drain(body []thr.Stmt, f flights) []thr.Stmt {
	if len(f) > 0 {
		body = a.wait(body, f, 0, a.last(f))
	}
	return body
}

// wait appends a wait that leaves n groups in flight. It has the accumulators that are then ready, and the tiles that are no
// longer read.
func (a *awaiter) wait(out []thr.Stmt, f flights, n int, at thr.At) []thr.Stmt {
	n = min(n, mostMMAs)
	w := thr.Do{At: at, Fn: thr.WGMMAWait, Args: []thr.Expr{i32(n)}}
	for k, age := range f {
		if age < n {
			continue
		}
		delete(f, k)
		switch {
		case k.adds:
			w.Frags = append(w.Frags, thr.AllOf(k.local))
		case k.op > 0:
			w.Ends = append(w.Ends, thr.Ended{At: a.at[k.op], Buf: k.buf, Scope: ir.ScopeGroup})
		}
	}
	slices.SortFunc(w.Frags, func(x, y thr.Frag) int { return cmp.Compare(x.Local.Name, y.Local.Name) })
	slices.SortFunc(w.Ends, func(x, y thr.Ended) int { return cmp.Or(x.Op-y.Op, cmp.Compare(x.Buf.Name, y.Buf.Name)) })
	return append(out, w)
}
