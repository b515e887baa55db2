package cuda

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// The multiply of a warpgroup. As with mma.sync each form is a function of its own. The compiler in front of ptxas takes
// inline assembly for something that is over when it has been executed, so accumulators are operands of the fence before
// and of the wait behind as well: what is computed of them moves past neither.

// swizzleModes are the codes of swizzles, by bytes, in a matrix descriptor.
var swizzleModes = map[uint64]int{0: 0, 128: 1, 64: 2, 32: 3}

// wgmmaDesc prints a matrix descriptor; each swizzle has a function.
func wgmmaDesc(p *printer, e thr.Call) code {
	c, ok := e.Args[3].(thr.Const)
	mode, known := swizzleModes[c.Bits]
	if !ok || !known {
		return p.fail("%v of the swizzle %s", e.Fn, thr.Text(e.Args[3]))
	}
	name := fmt.Sprintf("wgmma_desc_%d", c.Bits)
	// The address in a cluster has the block's rank from bit 24 on, which would get into the offset behind it.
	p.made[name] = fmt.Sprintf(device+`i64 %s(const void* p, int lbo, int sbo) { // %d-byte swizzle
  return (i64)((u64)((shared_at(p) & 0x3ffff) >> 4) | (u64)(lbo >> 4) << 16 | (u64)(sbo >> 4) << 32 | (u64)%d << 62);
}
`, name, c.Bits, mode)
	return call(name, p.address(thr.Shared, e.Args[0]), p.expr(e.Args[1]), p.expr(e.Args[2]))
}

// wgmma prints wgmma.mma_async, with A in shared memory or in registers.
func wgmma(p *printer, s thr.Do) code {
	t, ok := mmaTypes[s.DT]
	if !ok || s.Pred != nil || s.Dst != nil || len(s.Frags) != len(s.Fn.Frags()) {
		return p.fail("%v of %v takes its fragments and no predicate", s.Fn, s.DT)
	}
	var flags []bool // the constants behind the descriptors
	descs := s.Args
	for i, e := range s.Args {
		if c, ok := e.(thr.Const); ok && c.DT == dtype.I32 {
			flags = append(flags, c.Bits != 0)
			descs = descs[:min(len(descs), i)]
		}
	}
	if len(flags) != len(s.Args)-len(descs) || len(descs) == 0 || len(descs)+len(flags) != thr.Fns[s.Fn].Arity {
		return p.fail("%v takes descriptors and constants", s.Fn)
	}
	d := s.Frags[0]
	acc, array, constraint := accumulatorOf(d)
	n := 2 * d.N
	if acc == "f16" {
		n = 4 * d.N
	}
	shape := fmt.Sprintf("m64n%dk%d", n, 32/s.DT.Size())
	name := fmt.Sprintf("wgmma_%s_%s_%s", shape, acc, t)
	params, args := []string{array + "* d"}, []code{p.fragment(d)}
	operands, inputs := []string{list(0, d.N)}, []string{}
	next := d.N
	if s.Fn == thr.WGMMARegs {
		a := s.Frags[1]
		name += "_ra"
		params, args = append(params, "const "+operandType(s.DT)+"* a"), append(args, p.fragment(a))
		operands = append(operands, list(next, a.N))
		for i := range a.N {
			inputs = append(inputs, operand(s.DT, fmt.Sprintf("a[%d]", i)))
		}
		next += a.N
	}
	for i := range descs {
		of := "ab"[2-len(descs)+i : 2-len(descs)+i+1]
		params, args = append(params, "i64 "+of), append(args, p.expr(descs[i]))
		operands, inputs = append(operands, fmt.Sprintf("%%%d", next)), append(inputs, fmt.Sprintf("\"l\"(%s)", of))
		next++
	}
	trans, add := flags[:len(flags)-1], flags[len(flags)-1]
	operands = append(operands, digit(add))
	if s.DT.IsFloat() { // factors of A and B
		operands = append(operands, "1", "1")
	}
	for i, mn := range trans {
		of := "ab"[2-len(trans)+i : 2-len(trans)+i+1]
		if mn {
			name += "_" + of + "t"
		}
		if s.DT.Is16() {
			operands = append(operands, digit(mn))
		} else if mn {
			return p.fail("%v of %v with %s along its rows", s.Fn, s.DT, of)
		}
	}
	if !add {
		name += "_set"
	}
	p.made[name] = fmt.Sprintf(device+`void %s(%s) {
  asm volatile("wgmma.mma_async.sync.aligned.%s.%s.%s.%s %s;"
      : %s
      : %s);
}
`, name, strings.Join(params, ", "), shape, acc, t, t, strings.Join(operands, ", "), registerList("+"+constraint, "d", d.N), strings.Join(inputs, ", "))
	return call(name, args...)
}

func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// wgmmaFence prints the fence in front of multiplies, and wgmmaWait the wait for them, with the registers that they order.
func wgmmaFence(p *printer, s thr.Do) code {
	return p.ordering(s, "wgmma_fence", "wgmma.fence.sync.aligned")
}

func wgmmaWait(p *printer, s thr.Do) code {
	c, ok := s.Args[0].(thr.Const)
	if !ok || s.Buf != nil {
		return p.fail("%v takes a constant number of groups", s.Fn)
	}
	return p.ordering(s, fmt.Sprintf("wgmma_wait_%d", c.Bits), fmt.Sprintf("wgmma.wait_group.sync.aligned %d", c.Bits))
}

// ordering is an instruction that whole locals are ordered by. Their sizes are part of its function's name.
func (p *printer) ordering(s thr.Do, name, instruction string) code {
	if s.Pred != nil || s.Dst != nil {
		return p.fail("%v takes no predicate", s.Fn)
	}
	var params, operands []string
	var args []code
	for i, f := range s.Frags {
		t, c, of := "float", "f", fmt.Sprintf("r%d", i)
		kind := c
		switch f.Local.Type.DT {
		case dtype.F32:
		case dtype.I32:
			t, c, kind = "int", "r", "i"
		default:
			t, c, kind = "u32", "r", "r"
		}
		name += fmt.Sprintf("_%s%d", kind, f.N)
		params, args = append(params, t+"* "+of), append(args, p.fragment(f))
		operands = append(operands, registerList("+"+c, of, f.N))
	}
	p.made[name] = fmt.Sprintf(device+"void %s(%s) {\n  asm volatile(\"%s;\" : %s :: \"memory\");\n}\n", name, strings.Join(params, ", "), instruction, strings.Join(operands, ", "))
	return call(name, args...)
}
