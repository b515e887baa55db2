package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// A warpgroup multiplies by wgmma: 64 rows of A by k x N, of 32 bytes along k, both operands where their descriptors say.
// A tile lies in panels of its swizzle's width, row by row, and its matrix is K-major where rows run along k:
//
//	K-major:  groups of 8 rows are 8 rows of the panel apart (SBO); 32 bytes further is the next k
//	MN-major: groups of 8 of k are 8 rows of the panel apart (SBO), panels LBO; the next k is 16 rows further
//
// Source: PTX ISA, "Asynchronous warpgroup-level matrix multiply-accumulate"; the layouts of CUTLASS, mma_sm90_desc.hpp.

// wgmma's rows of A and bytes along k, and its most columns of B.
const (
	wgmmaRows = 64
	wgmmaStep = 32
	wgmmaCols = 256
)

// byWarpgroup reports whether an op is an MMA that a target does by wgmma: of 16-bit types, of f32 that is tf32 already, and of
// 8-bit types where both operands are in shared memory with rows along k, which wgmma has no other form for.
func byWarpgroup(t *target.Target, v *ir.Value) bool {
	i, ok := v.Attr.(*ir.MMAInfo)
	return ok && v.Scope == ir.ScopeGroup && !i.Sync && (i.DT.Is16() || i.Cut || i.DT.Is8() && i.Form == ir.ABt && i.A != nil && i.B != nil && i.K%wgmmaStep == 0) && t.Has(target.WGMMA)
}

// operandTiles are the tiles, but for slots of pipelines, that a kernel's wgmma reads, and whether CopyAsync writes some.
func operandTiles(s *state) (tiles map[*ir.SharedTile]bool, copied bool) {
	tiles = map[*ir.SharedTile]bool{}
	ir.EachOp(s.k.Body, func(v *ir.Value) {
		if !byWarpgroup(s.t, v) {
			return
		}
		i := v.Attr.(*ir.MMAInfo)
		for _, t := range []*ir.SharedTile{i.A, i.B} {
			if t != nil && t.Pipe == nil {
				tiles[t] = true
			}
		}
	})
	ir.EachOp(s.k.Body, func(v *ir.Value) {
		if i, ok := v.Attr.(*ir.CopyInfo); ok && tiles[i.Dst] {
			copied = true
		}
	})
	return tiles, copied
}

// fenceOperand orders a store to a tile before the asynchronous proxy reads it.
func (l *lowering) fenceOperand(v *ir.Value) {
	if a := v.Attr.(*ir.Access); l.operands[a.Shared] && !a.Peer {
		l.emit(thr.Do{At: l.at(), Fn: thr.FenceAsync})
	}
}

// fromPeers reports whether other blocks write a tile, which cannot fence it for this one.
func (l *lowering) fromPeers(t *ir.SharedTile) (found bool) {
	ir.EachOp(l.k.Body, func(v *ir.Value) {
		switch a := v.Attr.(type) {
		case *ir.Access:
			found = found || a.Peer && a.Shared == t && v.Op != ir.Load
		case *ir.RemoteInfo:
			found = found || a.Shared == t
		}
	})
	return found
}

// wgmmaOperand is an operand in shared memory.
type wgmmaOperand struct {
	desc thr.Expr                // of its first rows and k
	next func(thr.Expr) thr.Expr // how far the descriptor of the k with a number lies beyond
	rows int                     // how far that of the next 64 rows does
	mn   bool                    // MN-major
	buf  *thr.SharedBuf
}

// warpgroup lowers to wgmma.
func (m *mmaLowering) warpgroup(as, bs []*ir.Value) {
	l, steps := m.lowering, m.K*m.DT.Size()/wgmmaStep
	var a wgmmaOperand
	if m.A != nil {
		a = m.operand("a_desc", m.sharedA, m.A, m.Form.TransA())
	}
	b := m.operand("b_desc", m.sharedB, m.B, !m.Form.TransB())
	if m.A != nil && l.fromPeers(m.A) || l.fromPeers(m.B) {
		l.emit(thr.Do{At: l.at(), Fn: thr.FenceAsync})
	}
	fence := []thr.Frag{thr.AllOf(m.acc)}
	if m.a != nil {
		fence = append(fence, thr.AllOf(m.a))
	}
	l.emit(thr.Do{At: l.at(), Fn: thr.WGMMAFence, Frags: fence})
	tiles, regs := m.M/wgmmaRows, m.acc.Len/(m.M/wgmmaRows)
	multiply := func(k thr.Expr, adds bool) {
		l.unrolled(tiles, func(i thr.Expr) {
			d := thr.Do{At: l.at(), Fn: thr.WGMMA, DT: m.DT, Scope: ir.ScopeGroup, Buf: a.buf, BufB: b.buf,
				Frags: []thr.Frag{{Local: m.acc, First: mul(i, i32(regs)), N: regs, Step: 1}}}
			var descs, flags []thr.Expr
			if m.a != nil {
				d.Fn = thr.WGMMARegs
				d.Frags = append(d.Frags, thr.Frag{Local: m.a, First: add(mul(i, i32(m.a.Len/tiles)), mul(k, i32(4))), N: 4, Step: 1})
			} else {
				descs = append(descs, moved(a.desc, add(a.next(k), mul(i, i32(a.rows)))))
				flags = append(flags, flag(a.mn))
			}
			descs, flags = append(descs, moved(b.desc, b.next(k))), append(flags, flag(b.mn), flag(adds))
			d.Args = append(descs, flags...)
			l.emit(d)
		})
	}
	first := 0
	if m.Overwrite {
		multiply(i32(0), false)
		first = 1
	}
	if steps > first {
		l.unrolled(steps-first, func(k thr.Expr) { multiply(add(k, i32(first)), true) })
	}
	l.emit(thr.Do{At: l.at(), Fn: thr.WGMMACommit})
}

// moved is a descriptor further on, in units of 16 bytes.
func moved(desc, by thr.Expr) thr.Expr { return add(desc, widen(by)) }

func flag(b bool) thr.Expr {
	if b {
		return i32(1)
	}
	return i32(0)
}

// operand makes the descriptor of an operand; across says that its rows run along m or n.
func (m *mmaLowering) operand(name string, x *matrixAccess, t *ir.SharedTile, across bool) wgmmaOperand {
	l, width := m.lowering, t.Swizzle.Width()
	panel := x.panelElems() * t.DT.Size()
	o := wgmmaOperand{buf: x.shared, mn: across}
	lbo := 16 // read of MN-major operands alone
	if across {
		lbo = panel
		o.rows = wgmmaRows * t.DT.Size() / width * panel / 16
		o.next = func(k thr.Expr) thr.Expr { return mul(k, i32(wgmmaStep/t.DT.Size()*width/16)) }
	} else {
		o.rows = wgmmaRows * width / 16
		o.next = func(k thr.Expr) thr.Expr {
			in := width / wgmmaStep // of k in a panel
			if m.K*t.DT.Size() <= width {
				return mul(k, i32(wgmmaStep/16))
			}
			return add(mul(rem(k, in), i32(wgmmaStep/16)), mul(div(k, in), i32(panel/16)))
		}
	}
	at := add(thr.SharedAddr{Buf: x.shared}, toU32(x.offset(x.offsets)))
	desc := call(thr.WGMMADesc, dtype.I64, at, i32(lbo), i32(8*width), i32(width))
	o.desc = ref(l.local(name, thr.Val(dtype.I64), desc))
	return o
}

// wgmmaFits refuses what wgmma cannot do.
func wgmmaFits(s *state, v *ir.Value) error {
	i := v.Attr.(*ir.MMAInfo)
	_, as, bs := v.Operands()
	other := ", or the option tile.MMASync"
	if i.Cut {
		other = "" // for f32 there is no other way; of operands as they lie, TF32
	}
	refuse := func(rule error, format string, args ...any) error {
		return positioned(rule, v.Pos, "MMA of a warpgroup on "+s.t.Name+", by wgmma: "+format+other, args...)
	}
	role := v.In.InRole()
	switch {
	case i.N > wgmmaCols:
		return refuse(ir.ErrShape, "n = %d, and it has at most %d columns; use %d accumulators", i.N, wgmmaCols, (i.N+wgmmaCols-1)/wgmmaCols)
	case i.K*i.DT.Size()%wgmmaStep != 0:
		n := wgmmaStep / i.DT.Size()
		return refuse(ir.ErrShape, "k = %d, and it takes %d of %v at a time; use %d and zeros", i.K, n, i.DT, (i.K+n-1)/n*n)
	case i.DT == dtype.I8 && i.N > 32 && i.N%16 != 0:
		return refuse(ir.ErrShape, "n = %d, and of i8 it has multiples of 16 beyond 32; use %d", i.N, (i.N+15)/16*16)
	case role.First%ir.WarpgroupWarps != 0:
		return refuse(ir.ErrScope, "the role %s begins at warp %d, and it is of warpgroups, which begin at multiples of %d; put roles of single warps behind it, or give them register budgets", role.Name, role.First, ir.WarpgroupWarps)
	}
	for n, o := range []struct {
		tile   *ir.SharedTile
		offs   []*ir.Value
		across bool
		side   int // along m or n
	}{{i.A, as, i.Form.TransA(), i.M}, {i.B, bs, !i.Form.TransB(), i.N}} {
		if o.tile == nil {
			continue
		}
		if i.Cut {
			other = ", or the accuracy tile.TF32, which copies operands"
		}
		name := string(rune('A' + n))
		size, panel := o.tile.DT.Size(), o.tile.PanelCols()
		row, col := o.offs[len(o.offs)-2], o.offs[len(o.offs)-1]
		switch {
		case o.tile.Swizzle.Bits() == 0:
			return refuse(ir.ErrLayout, "operand %s is %s, rows of %d bytes without a swizzle, which no descriptor describes; make it with Swizzle(layout.Swizzle128), Swizzle64 or Swizzle32", name, o.tile.Name, o.tile.Shape[len(o.tile.Shape)-1]*size)
		case o.tile.Shape[len(o.tile.Shape)-2]%8 != 0:
			return refuse(ir.ErrLayout, "operand %s is %s of %d rows, and a swizzle repeats after 8; use a multiple of 8", name, o.tile.Name, o.tile.Shape[len(o.tile.Shape)-2])
		case !s.flow.isMultiple(row, 8):
			return refuse(ir.ErrLayout, "operand %s begins at a row of %s that is not known to be a multiple of 8, after which its swizzle repeats; use a constant, or the variable of a loop with such a step", name, o.tile.Name)
		case o.across && size != 2:
			return refuse(ir.ErrDType, "operand %s of %v has rows along %s, and only 16-bit types may; store it transposed", name, o.tile.DT, []string{"m", "n"}[n])
		case o.across && !s.flow.isMultiple(col, panel):
			return refuse(ir.ErrLayout, "operand %s begins at a column of %s that is not known to be a multiple of %d, the columns of a panel; use such a column", name, o.tile.Name, panel)
		case !o.across && !withinPanel(s, col, i.K, panel, wgmmaStep/size):
			return refuse(ir.ErrLayout, "operand %s begins at a column of %s that is not known to be a multiple of %d, or %d columns from it on are not in one panel of %d; use a multiple of %d", name, o.tile.Name, wgmmaStep/size, i.K, panel, panel)
		}
	}
	return nil
}

// withinPanel reports whether k columns from a place on are in one panel for certain, or begin with one.
func withinPanel(s *state, col *ir.Value, k, panel, step int) bool {
	if s.flow.isMultiple(col, panel) {
		return true
	}
	if n, ok := constInt(col); ok {
		return n%step == 0 && n%panel+k <= panel
	}
	return panel%k == 0 && s.flow.isMultiple(col, k)
}
