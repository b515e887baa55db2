package plan

import (
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Operands of 8 bits. mma.sync wants four neighbours of k in a register: lane t of a row has k = 4t to 4t+3 of each 16. A
// matrix load gives that of a tile whose rows run along k; there is none that transposes bytes.
//
// A fragment in registers has columns 2t and 2t+1 of each 8, of two rows in one register. The order of k is free as long as
// A and B have the same, so where one of them is in registers lane t has k = 2t, 2t+1, 2t+8 and 2t+9: halves of registers
// are put together, and no element leaves its lane. The other operand, if it is in shared memory, is loaded in that order.

// permuted reports whether k is in the order of fragments in registers.
func (m *mmaLowering) permuted() bool { return m.DT.Is8() && (m.a != nil || m.b != nil) }

// plain reports whether an operand in shared memory is read by loads of the thread in the place of matrix loads.
func (m *mmaLowering) plain(s *matrixAccess) bool {
	return s != nil && m.DT.Is8() && (s.trans || m.permuted())
}

// plainLoads names the operands that are read by plain loads.
func (m *mmaLowering) plainLoads() string {
	var names []string
	for _, s := range []*matrixAccess{m.sharedA, m.sharedB} {
		if m.plain(s) {
			names = append(names, s.Shared.Name)
		}
	}
	if names == nil {
		return ""
	}
	return "; plain shared loads of " + strings.Join(names, " and ")
}

// gather puts the registers of a fragment's 16 rows with number i, of the step of k with number k, in the instruction's order:
// those of rows 0 to 7 and of rows 8 to 15, of the lower and of the upper 16 bytes of k; the rows are so many registers apart.
func (m *mmaLowering) gather(to thr.Frag, x *thr.Local, i, k thr.Expr, apart int) {
	first := add(mul(i, i32(m.K/8)), mul(k, i32(4)))
	for half := range to.N / 2 {
		lo, hi := at(x, add(first, i32(2*half))), at(x, add(first, i32(2*half+1)))
		upper := bin(ir.Or, bin(ir.And, lo, literal(dtype.U32, 0xffff)), bin(ir.Shl, hi, literal(dtype.U32, 16)))
		lower := bin(ir.Or, bin(ir.Shr, lo, literal(dtype.U32, 16)), bin(ir.And, hi, thr.Const{DT: dtype.U32, Bits: 0xffff0000}))
		next := 3 - apart // from one half of k to the next
		for row, e := range []thr.Expr{upper, lower} {
			m.emit(thr.Assign{At: m.at(), Dst: to.At(next*half + apart*row), Src: e})
		}
	}
}

// fetch loads the block of an operand in shared memory that begins at row and column, as they are multiplied.
func (m *mmaLowering) fetch(s *matrixAccess, to thr.Frag, b matrixBlock, row, col thr.Expr) {
	if !m.plain(s) {
		s.move(thr.LdMatrix, to, b, row, col)
		return
	}
	l := m.lowering
	lane := call(thr.Lane, dtype.I32)
	row = add(row, l.atTop("frag_row", div(lane, 4)))
	width := 4 // neighbours of k that a lane has
	if m.permuted() {
		width = 2
	}
	col = add(col, l.atTop("frag_k", mul(rem(lane, 4), i32(width))))
	piece := width // bytes a load
	if s.trans {
		piece = 1
	}
	names := [4]string{"b0", "b1", "b2", "b3"}
	for n := range to.N {
		r, c := row, col
		for i := range 2 { // bit i of the register's number
			if n>>i&1 == 1 {
				r, c = add(r, i32(b.rows[i])), add(c, i32(2*b.cols[i]))
			}
		}
		var all thr.Expr
		for at := 0; at < 4; at += piece {
			part := l.local(names[at], thr.Val(dtype.U32), nil)
			l.emit(thr.Load{At: l.at(), Space: thr.Shared, Dst: part, Bytes: piece, Addr: s.element(r, add(c, i32(at%width+at/width*8))), Buf: s.shared, Scope: s.Scope})
			all = withPart(all, ref(part), 8*at)
		}
		l.emit(thr.Assign{At: l.at(), Dst: to.At(n), Src: all})
	}
}

// element is the address of an element of the matrix, as it is multiplied.
func (a *matrixAccess) element(row, col thr.Expr) thr.Expr {
	if a.trans {
		row, col = col, row
	}
	at := slices.Clone(a.offsets)
	at[a.first], at[a.first+1] = add(at[a.first], row), add(at[a.first+1], col)
	return a.place(at)
}
