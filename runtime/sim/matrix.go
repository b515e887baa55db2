package sim

import (
	"github.com/gotile/gotile/internal/thr"
)

// Loads and stores of matrix fragments. A matrix is 8 rows of 16 bytes; lane 8j+i gives the address of row i of matrix j,
// and lane 4r+c has, in register j, the 4 bytes from column 4c of row r: as layout.Ldmatrix and layout.LdmatrixRows say.
// PTX ISA, "ldmatrix", "stmatrix" and "movmatrix".

const (
	matrixRows = 8
	matrixRow  = 16 // bytes
)

// fragment are the registers of a statement's fragment.
func (c *compiler) fragment(s thr.Do, i int) []int32 {
	f := s.Frags[i]
	var out []int32
	for j := range f.N {
		r := c.ref(f.Local, f.At(j).Index)
		if r.uniform {
			c.fail("fragment %d of %s lies in scalar registers", i, s.Fn)
		}
		out = append(out, r.i)
	}
	return out
}

// matrixOp is an ldmatrix or stmatrix instruction.
type matrixOp struct {
	*access
	regs  []int32
	trans bool
}

func matrixDo(write, trans bool) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) {
		if s.Pred != nil || len(s.Frags) != 1 {
			c.fail("%s for some lanes, or of %d fragments", s.Fn, len(s.Frags))
		}
		what := "load"
		if write {
			what = "store"
		}
		o := &matrixOp{access: c.access(matrixRow, thr.Shared, write, what+" of a matrix", s.Args[0], nil, s.Buf), regs: c.fragment(s, 0), trans: trans}
		c.emit(int64(len(o.regs))*warpSize, o.run)
	}
}

// run accesses the rows that the first lanes name.
func (o *matrixOp) run(w *warp) {
	b := w.block
	var off offsets
	rows := uint32(1)<<(matrixRows*len(o.regs)) - 1 // 32 of 4 matrices: all ones
	m := o.offsets(w, w.vec(o.addr), rows, &off)
	if m == 0 {
		return
	}
	b.banks.count(o.site, &off, m, matrixRow)
	o.checkFlight(w, &b.shared, m, &off)
	o.check(w, &b.shared, m, &off)
	for j, r := range o.regs {
		for l := range warpSize {
			for half := range 2 {
				row, col := l/4, l%4*2+half
				if o.trans {
					row, col = col, row
				}
				at := matrixRows*j + row
				if m>>at&1 == 0 {
					continue // reported
				}
				p := b.shared.data[off[at]+2*col:]
				if o.write {
					setWord(p, 2, w.vec(r)[l]>>(16*half))
				} else {
					w.r[r][l] = w.r[r][l]&^(0xffff<<(16*half)) | word(p, 2)<<(16*half)
				}
			}
		}
	}
}

// moveMatrix transposes a matrix of 8x8 16-bit elements among the lanes.
func (c *compiler) moveMatrix(e thr.Call, dst *operand) operand {
	if len(e.Args) != 1 {
		c.fail("movmatrix of %d operands", len(e.Args))
	}
	m := c.mark()
	x := c.vec(e.Args[0])
	c.release(m)
	d := c.result(false, dst)
	c.emit(warpSize, func(w *warp) {
		from, to := *w.vec(x.i), &w.r[d.i]
		for l := range to {
			element := func(row, col int) uint64 { return from[4*row+col/2] >> (16 * (col % 2)) & 0xffff }
			to[l] = element(l%4*2, l/4) | element(l%4*2+1, l/4)<<16
		}
	})
	return d
}
