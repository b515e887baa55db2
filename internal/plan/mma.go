package plan

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// mma lowers a matrix multiply. Each warp of the scope multiplies its own rows of A.
func (l *lowering) mma(v *ir.Value) {
	i := v.Attr.(*ir.MMAInfo)
	acc, as, bs := v.Operands()
	l.keepReads(acc, v)
	a, b := l.mmaOperand(v, as, i.A), l.mmaOperand(v, bs, i.B)
	l.cur = v
	m := &mmaLowering{lowering: l, MMAInfo: i, span: acc.Type.Span, acc: l.vars[acc], warps: acc.Type.Span.Dist.Threads() / 32}
	m.a, m.b = a, b
	if i.A != nil {
		rows, cols := i.M, i.K
		if i.Form.TransA() {
			rows, cols = cols, rows
		}
		m.sharedA = l.openMatrix(i.A, v.Scope, rows, cols, i.Form.TransA(), as)
	}
	if i.B != nil { // its fragment is of n x k
		rows, cols := i.N, i.K
		if !i.Form.TransB() {
			rows, cols = cols, rows
		}
		m.sharedB = l.openMatrix(i.B, v.Scope, rows, cols, !i.Form.TransB(), bs)
	}
	word := "+="
	if i.Overwrite {
		word = "="
	}
	by := "mma.sync"
	switch {
	case byWarpgroup(l.t, v) && i.Cut:
		by = "wgmma of tf32"
	case byWarpgroup(l.t, v):
		by = "wgmma"
	case i.Terms > 0:
		by = fmt.Sprintf("mma.sync, %dxTF32", i.Terms)
	}
	l.comment("%s %s %s %s, %v: %s%s", m.acc.Name, word, m.operandName(a, i.A), m.operandName(b, i.B), i.Form, by, m.plainLoads())
	if byWarpgroup(l.t, v) {
		m.warpgroup(as, bs)
		return
	}
	if i.Overwrite {
		l.unrolled(m.acc.Len, func(i thr.Expr) {
			l.emit(thr.Assign{At: l.at(), Dst: at(m.acc, i), Src: number(m.acc.Type.DT, 0)})
		})
	}
	if i.Terms > 0 {
		m.tf32()
		return
	}
	m.sync()
}

// keepReads keeps what was read of a variable and is used after an op that changes it.
func (l *lowering) keepReads(variable, v *ir.Value) {
	for _, g := range l.gets {
		if g.Args[0] == variable && l.tiles[g] == nil && l.usedLater(g, []*ir.Value{v}) {
			l.keep(g)
		}
	}
}

// mmaOperand is the array of an operand in registers; nil: it is in shared memory.
func (l *lowering) mmaOperand(v *ir.Value, args []*ir.Value, in *ir.SharedTile) *thr.Local {
	if in != nil {
		return nil
	}
	x := l.flow.canonical(args[0])
	for x.Op == ir.Transpose && l.tiles[x] == nil { // the same registers
		x = l.flow.canonical(x.Args[0])
	}
	l.materialise(x)
	return l.tiles[x]
}

// mmaLowering is an MMA being lowered.
type mmaLowering struct {
	*lowering
	*ir.MMAInfo
	span             *ir.Span // of the accumulator
	acc              *thr.Local
	a, b             *thr.Local // operands in registers, or
	sharedA, sharedB *matrixAccess
	warps            int
}

func (m *mmaLowering) operandName(x *thr.Local, t *ir.SharedTile) string {
	if t != nil {
		return t.Name
	}
	return x.Name
}

// mmaBytes is how much of a row an instruction of the larger k takes: 32 bytes, in 4 registers of 16 rows.
const mmaBytes = 32

// sync lowers to mma.sync: for each 32 bytes of k the warp's fragments of A, then of B 16 columns at a time. Where 16 bytes
// of k are left, so does the instruction with half of k.
func (m *mmaLowering) sync() {
	step := mmaBytes / m.DT.Size()
	if m.K >= step {
		m.unrolled(m.K/step, func(k thr.Expr) { m.products(k, mul(k, i32(step)), 4) })
	}
	if m.K%step != 0 {
		m.products(i32(m.K/step), i32(m.K/step*step), 2)
	}
}

// products multiplies the step of k with number k, from column col on, of which 16 rows of an operand are so many registers.
func (m *mmaLowering) products(k, col thr.Expr, regs int) {
	l, rows := m.lowering, m.M/(16*m.warps)
	below := l.warpRow(m.span)
	a := func(i thr.Expr) thr.Frag {
		return thr.Frag{Local: m.a, First: add(mul(i, i32(m.K/4)), mul(k, i32(4))), N: regs, Step: 1}
	}
	if m.a == nil || m.DT.Is8() {
		x := l.array("a", dtype.U32, regs*rows)
		a = func(i thr.Expr) thr.Frag { return thr.Frag{Local: x, First: mul(i, i32(regs)), N: regs, Step: 1} }
		l.unrolled(rows, func(i thr.Expr) {
			if m.a != nil {
				m.gather(a(i), m.a, i, k, 1)
				return
			}
			block := block16x16
			if regs == 2 {
				block = block16x8
			}
			m.fetch(m.sharedA, a(i), block, add(mul(i, i32(16*m.warps)), below), col)
		})
	}
	if m.N >= 16 {
		l.unrolled(m.N/16, func(j thr.Expr) {
			b := m.fragmentB(k, j, col, 16, regs)
			l.unrolled(rows, func(i thr.Expr) {
				for half := range 2 {
					m.multiply(a(i), m.halfOf(b, half), i, add(mul(j, i32(2)), i32(half)))
				}
			})
		})
	}
	if m.N%16 != 0 { // 8 columns more
		b := m.fragmentB(k, i32(m.N/16), col, 8, regs/2)
		l.unrolled(rows, func(i thr.Expr) { m.multiply(a(i), b, i, i32(m.N/8-1)) })
	}
}

// fragmentB is the fragment of B of a step of k and of the 16, or last 8, columns with number j.
func (m *mmaLowering) fragmentB(k, j, col thr.Expr, cols, regs int) thr.Frag {
	if m.b != nil && !m.DT.Is8() {
		return thr.Frag{Local: m.b, First: add(mul(j, i32(m.K/4)), mul(k, i32(4))), N: regs, Step: 1}
	}
	b := thr.Frag{Local: m.array("b", dtype.U32, regs), First: i32(0), N: regs, Step: 1}
	if regs == 1 {
		b.First = nil // no array
	}
	if m.b != nil {
		m.gather(b, m.b, j, k, regs/2)
		return b
	}
	block := blockPairs
	switch {
	case cols == 16 && regs == 2:
		block = block16x8
	case cols == 8 && regs == 2:
		block = block8x16
	case cols == 8:
		block = block8x8
	}
	m.fetch(m.sharedB, b, block, mul(j, i32(16)), col)
	return b
}

// halfOf is the fragment of 8 of the 16 columns of a fragment of B. One that was loaded for this has its registers side by
// side, as the instruction takes them: otherwise ptxas moves both for each instruction.
func (m *mmaLowering) halfOf(b thr.Frag, half int) thr.Frag {
	if m.b != nil && !m.DT.Is8() {
		return thr.Frag{Local: b.Local, First: add(b.First, i32(half)), N: b.N / 2, Step: 2}
	}
	return thr.Frag{Local: b.Local, First: i32(b.N / 2 * half), N: b.N / 2, Step: 1}
}

// multiply emits one mma.sync into tile (i, j), of 16x8, of the accumulator.
func (m *mmaLowering) multiply(a, b thr.Frag, i, j thr.Expr) {
	n := 4
	if m.acc.Type.DT == dtype.U32 { // f16, in pairs
		n = 2
	}
	d := thr.Frag{Local: m.acc, First: mul(add(mul(i, i32(m.N/8)), j), i32(n)), N: n, Step: 1}
	m.emit(thr.Do{At: m.at(), Fn: thr.MMASync, DT: m.DT, Frags: []thr.Frag{d, a, b}, Scope: ir.ScopeWarp})
}
