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

// workspace is the shared memory in which collective ops pass elements from warp to warp, one after the other: the same
// for all of a role, or of what stands outside roles.
func (l *lowering) workspace(bytes int) *thr.SharedBuf {
	b := l.spaces[l.role]
	if b == nil {
		b = &thr.SharedBuf{Name: l.names.fresh("workspace"), DT: dtype.U32, Note: "what scans and redistributed tiles pass between threads"}
		l.spaces[l.role] = b
		l.out.Shared = append(l.out.Shared, b)
	}
	b.Bytes = max(b.Bytes, bytes)
	return b
}

// scopeWarp is the warp's number in its block, or in its role, and in the scope of a tile.
func (l *lowering) scopeWarp(s *ir.Span) (all, own thr.Expr) {
	if s.Scope == ir.ScopeGroup {
		all = l.roleWarp()
		if l.role.Parts == 1 {
			return all, all
		}
		return all, rem(all, l.role.Warps)
	}
	w := call(thr.Warp, dtype.I32)
	return w, w
}
