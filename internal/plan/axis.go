package plan

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// A mover is what changes along an axis from one element to another: the number of a thread's value, of the lane, of the
// warp.
type mover uint8

const (
	byValue mover = iota
	byLane
	byWarp
)

// A step of the walk along an axis is a digit of the coordinate. It counts size elements, or groups of those that the
// steps before it have passed, and is the digit of place and size of the mover's number.
type step struct {
	by          mover
	place, size int
}

// walkAxis is the walk along an axis of a tile, from neighbours on: every coordinate is the number whose digits are the
// steps, first one fastest. Steps of one mover that are one digit of its number are one step.
func walkAxis(s *ir.Span, axis int) ([]step, error) {
	type moving struct {
		step
		stride int
	}
	var all []moving
	place := 1
	for _, m := range s.Dist.Value {
		if m.Axis == axis {
			all = append(all, moving{step{byValue, place, m.Size}, m.Stride})
		}
		place *= m.Size
	}
	threads, err := threadSteps(s.Dist)
	if err != nil {
		return nil, err
	}
	for _, t := range threads {
		if t.Axis == axis {
			all = append(all, moving{t.step, t.Stride})
		}
	}
	slices.SortStableFunc(all, func(a, b moving) int { return a.stride - b.stride })
	var out []step
	covered := 1
	for _, m := range all {
		if m.stride != covered {
			return nil, fmt.Errorf("the elements of axis %d lie %d apart where %d are covered: %v", axis, m.stride, covered, s.Dist)
		}
		covered *= m.size
		if n := len(out); n > 0 && out[n-1].by == m.by && out[n-1].place*out[n-1].size == m.place {
			out[n-1].size *= m.size
			continue
		}
		out = append(out, m.step)
	}
	return out, nil
}

// threadStep is a digit of the number of a lane or of a warp, with the mode that it comes from.
type threadStep struct {
	step
	layout.Mode // Size is the whole mode's
}

// threadSteps are the thread modes of a distribution, each cut where the lanes of a warp end. The digits of a lane's
// number are powers of two.
func threadSteps(d *layout.Dist) ([]threadStep, error) {
	var out []threadStep
	place := 1
	for _, m := range d.Thread {
		lanes, warps := m.Size, 1
		switch {
		case place >= 32:
			lanes, warps = 1, m.Size
		case place*m.Size > 32:
			lanes = 32 / place
			warps = m.Size / lanes
		}
		if _, ok := log2(lanes); !ok || lanes*warps != m.Size {
			return nil, fmt.Errorf("a mode of %d threads ends within a warp: %v", m.Size, d)
		}
		if lanes > 1 {
			out = append(out, threadStep{step{byLane, place, lanes}, m})
		}
		if warps > 1 {
			m.Stride *= lanes
			out = append(out, threadStep{step{byWarp, max(1, place/32), warps}, m})
		}
		place *= m.Size
	}
	return out, nil
}

// A radix is some digits of a thread's value number.
type radix []layout.Place

// count is the number of values that the digits tell apart.
func (r radix) count() int {
	n := 1
	for _, p := range r {
		n *= p.Size
	}
	return n
}

// number is the value number whose digits are those of i, which counts through them.
func (r radix) number(i thr.Expr) thr.Expr {
	var out thr.Expr = i32(0)
	n, pre := r.count(), 1
	for k := 0; k < len(r); {
		p := r[k]
		for k++; k < len(r) && r[k].Place == p.Place*p.Size; k++ { // neighbours are one digit
			p.Size *= r[k].Size
		}
		out = add(out, mul(digit(elem{i, 1, 0}, pre, p.Size, n), i32(p.Place)))
		pre *= p.Size
	}
	return out
}

// A space is what a workspace is for: each part of a scope, a warp or a group, has as many bytes of it.
type space struct {
	role  *thr.Role
	scope ir.Scope
	bytes int
}

// workspace is the shared memory in which a collective op passes elements from thread to thread: some bytes for each
// part of the scope. Those of one role, scope and size are one, which the ops use one after the other; of two sizes a
// warp's part of one would lie in another warp's part of the other.
func (l *lowering) workspace(s ir.Scope, bytes int) (b *thr.SharedBuf, part thr.Expr) {
	parts := 1
	part = i32(0)
	switch s {
	case ir.ScopeWarp:
		parts, part = l.k.Threads/32, call(thr.Warp, dtype.I32)
	case ir.ScopeGroup:
		parts, part = l.role.Parts, l.groupIndex()
	}
	key := space{l.role, s, bytes}
	if l.spaces[key] == nil {
		l.spaces[key] = &thr.SharedBuf{Name: l.names.fresh("workspace"), Bytes: parts * bytes, DT: dtype.U32, Note: "what scans and redistributed tiles pass between threads"}
		l.addShared(l.spaces[key], origin{pos: l.at().Pos})
	}
	return l.spaces[key], part
}

// warpOf is the warp's number in the scope of a tile.
func (l *lowering) warpOf(s *ir.Span) thr.Expr {
	if s.Scope != ir.ScopeGroup {
		return call(thr.Warp, dtype.I32)
	}
	if l.role.Parts == 1 {
		return l.roleWarp()
	}
	return rem(l.roleWarp(), l.role.Warps)
}
