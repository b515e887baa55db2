package plan

import (
	"maps"
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// synchronise inserts barriers between accesses to shared memory that would race: a read after a write, a write after
// a read, a write after another op's write. Around a loop's back edge the end of the body meets its beginning.
// Conflicts within one scope are ordered with that scope's barrier; a conflict between scopes is an error, since only
// the author knows who should wait for whom.
func synchronise(s *state) error {
	y := &syncer{}
	s.out.Body, _ = y.block(s.out.Body, hazards{}, 0)
	return y.err
}

// touch is an access to a buffer since the last barrier.
type touch struct {
	buf   *thr.SharedBuf
	op    int // tile op
	lap   int // how many back edges ago: an op's stores conflict with those of its last iteration
	write bool
	scope ir.Scope
}

// hazards are the accesses that no barrier has yet separated from what follows.
type hazards map[touch]ir.Pos

type syncer struct {
	warpFlow int // depth of control flow on which only a warp agrees
	err      error
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
			if s.Space == thr.Shared {
				out = y.access(out, h, s.At, touch{s.Buf, s.Op, lap, false, scopeOf(s.Scope)})
			}
			out = append(out, s)
		case thr.Store:
			if s.Space == thr.Shared {
				out = y.access(out, h, s.At, touch{s.Buf, s.Op, lap, true, scopeOf(s.Scope)})
			}
			out = append(out, s)
		case thr.Do:
			switch s.Fn {
			case thr.BlockSync:
				clear(h)
			case thr.WarpSync:
				h.clearWarp()
			}
			out = append(out, s)
		case thr.If:
			y.enter(s.Scope)
			var a, b hazards
			s.Then, a = y.block(s.Then, h, lap)
			s.Else, b = y.block(s.Else, h, lap)
			y.leave(s.Scope)
			h = join(a, b)
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
			n := len(s.Head)
			var all []thr.Stmt
			mark := thr.Comment{Text: "while"} // splits head from body again
			all = append(append(append(all, s.Head...), mark), s.Body...)
			all, h = y.loop(all, h, lap)
			for i, t := range all {
				if t == thr.Stmt(mark) && i >= n {
					s.Head, s.Body = all[:i:i], all[i+1:]
					break
				}
			}
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
	i := slices.IndexFunc(inside, isBarrier)
	if i < 0 || slices.ContainsFunc(body, isBarrier) {
		return out, inside, after
	}
	out = append(out, inside[i])
	if inside[i].(thr.Do).Fn == thr.BlockSync {
		h = hazards{}
	} else {
		h = maps.Clone(h)
		h.clearWarp()
	}
	inside, after = y.block(body, h, lap)
	return out, inside, after
}

func isBarrier(s thr.Stmt) bool {
	d, ok := s.(thr.Do)
	return ok && (d.Fn == thr.BlockSync || d.Fn == thr.WarpSync)
}

// loop finds the fixed point: what reaches the top of the body is what comes before the loop and what the body leaves.
func (y *syncer) loop(body []thr.Stmt, before hazards, lap int) ([]thr.Stmt, hazards) {
	in := before
	for {
		out, after := y.block(body, in, lap)
		next := maps.Clone(before)
		for t, pos := range after {
			t.lap = lap + 1
			next[t] = pos
		}
		if maps.Equal(next, in) || y.err != nil {
			return out, join(before, after)
		}
		in = next
	}
}

// access puts a barrier before an access where one is needed, and notes the access.
func (y *syncer) access(out []thr.Stmt, h hazards, at thr.At, t touch) []thr.Stmt {
	for o, pos := range h {
		if o.buf != t.buf || !o.write && !t.write || o.write && t.write && o.op == t.op && o.lap == t.lap {
			continue
		}
		if o.scope != t.scope {
			if y.err == nil {
				y.err = positioned(at.Pos, "%s is used at %s scope here and at %s scope at %s; put a block.Sync() between the two", t.buf.Name, t.scope, o.scope, pos)
			}
			return out
		}
		if t.scope == ir.ScopeWarp {
			out = append(out, thr.Do{At: at, Fn: thr.WarpSync})
			h.clearWarp()
		} else {
			if y.warpFlow > 0 && y.err == nil {
				y.err = positioned(at.Pos, "%s needs a barrier of the block here, inside control flow on which only a warp agrees; use a loop or condition at block scope", t.buf.Name)
			}
			out = append(out, thr.Do{At: at, Fn: thr.BlockSync})
			clear(h)
		}
		break
	}
	h[t] = at.Pos
	return out
}

func (h hazards) clearWarp() {
	maps.DeleteFunc(h, func(t touch, _ ir.Pos) bool { return t.scope == ir.ScopeWarp })
}

func scopeOf(s ir.Scope) ir.Scope {
	if s == ir.NoScope {
		return ir.ScopeBlock
	}
	return s
}

func (y *syncer) enter(s ir.Scope) {
	if s == ir.ScopeWarp {
		y.warpFlow++
	}
}

func (y *syncer) leave(s ir.Scope) {
	if s == ir.ScopeWarp {
		y.warpFlow--
	}
}
