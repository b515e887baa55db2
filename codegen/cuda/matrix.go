package cuda

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// Tensor cores: each form that a kernel uses is a function of its own, as there are many.

// fragment prints a pointer to the registers of a fragment, which lie side by side.
func (p *printer) fragment(f thr.Frag) code {
	switch {
	case f.Step != 1:
		return p.fail("%s: registers %d apart have no pointer", f.Local.Name, f.Step)
	case f.First == nil:
		return prefix("&", primary(p.name(f.Local)))
	}
	return p.registers(f.Local, f.First, f.N)
}

// list is n operands of PTX in braces, from number first on.
func list(first, n int) string {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf("%%%d", first+i))
	}
	return "{" + strings.Join(s, ", ") + "}"
}

// registerList is n registers of an array as operands of inline assembly.
func registerList(constraint, array string, n int) string {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf("\"%s\"(%s[%d])", constraint, array, i))
	}
	return strings.Join(s, ", ")
}

// matrix prints ldmatrix and stmatrix of one, two or four matrices.
func matrix(store, trans bool) func(*printer, thr.Do) code {
	return func(p *printer, s thr.Do) code {
		if s.Pred != nil || s.Dst != nil || len(s.Frags) != 1 {
			return p.fail("%v takes one fragment and no predicate", s.Fn)
		}
		n, suffix, dot := s.Frags[0].N, "", ""
		if trans {
			suffix, dot = "_trans", ".trans"
		}
		at, frag := p.address(thr.Shared, s.Args[0]), p.fragment(s.Frags[0])
		if store {
			name := fmt.Sprintf("stmatrix_x%d%s", n, suffix)
			p.made[name] = fmt.Sprintf(device+`void %s(void* p, const u32* r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%0], %s;" :: "r"(shared_at(p)), %s : "memory");
}
`, name, n, dot, list(1, n), registerList("r", "r", n))
			return call(name, at, frag)
		}
		name := fmt.Sprintf("ldmatrix_x%d%s", n, suffix)
		p.made[name] = fmt.Sprintf(device+`void %s(u32* r, const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%%d];" : %s : "r"(shared_at(p)) : "memory");
}
`, name, n, dot, list(0, n), n, registerList("=r", "r", n))
		return call(name, frag, at)
	}
}

// mmaTypes are the names of operands in PTX.
var mmaTypes = map[dtype.Type]string{dtype.BF16: "bf16", dtype.F16: "f16", dtype.F32: "tf32", dtype.E4M3: "e4m3", dtype.E5M2: "e5m2", dtype.I8: "s8"}

// accumulatorOf is the type of an accumulator in PTX and in C, and the constraint of its registers.
func accumulatorOf(d thr.Frag) (ptx, c, constraint string) {
	switch d.Local.Type.DT {
	case dtype.U32: // pairs
		return "f16", "u32", "r"
	case dtype.I32:
		return "s32", "int", "r"
	}
	return "f32", "float", "f"
}

// operandType is what the registers of an operand of a multiply are in C: bits, or of tf32 numbers.
func operandType(dt dtype.Type) string {
	if dt == dtype.F32 {
		return "float"
	}
	return "u32"
}

// operand is such a register as an operand of inline assembly, which takes bits.
func operand(dt dtype.Type, register string) string {
	if dt == dtype.F32 {
		register = "__float_as_uint(" + register + ")"
	}
	return `"r"(` + register + ")"
}

// mmaSync prints mma.sync. The registers of A lie side by side, those of B may not.
func mmaSync(p *printer, s thr.Do) code {
	t, ok := mmaTypes[s.DT]
	if !ok || s.Pred != nil || s.Dst != nil || len(s.Frags) != 3 {
		return p.fail("%v of %v takes three fragments and no predicate", s.Fn, s.DT)
	}
	d, a, b := s.Frags[0], s.Frags[1], s.Frags[2]
	acc, array, constraint := accumulatorOf(d)
	k := a.N * 4 / s.DT.Size() * 32 / 16
	in := operandType(s.DT)
	name := fmt.Sprintf("mma_m16n8k%d_%s_%s", k, acc, t)
	var params, inputs []string
	for i := range a.N {
		inputs = append(inputs, operand(s.DT, fmt.Sprintf("a[%d]", i)))
	}
	args := []code{p.fragment(d), p.fragment(a)}
	for i := range b.N {
		params = append(params, fmt.Sprintf("%s b%d", in, i))
		inputs = append(inputs, operand(s.DT, fmt.Sprintf("b%d", i)))
		args = append(args, p.ref(b.At(i)))
	}
	p.made[name] = fmt.Sprintf(device+`void %s(%s* d, const %s* a, %s) {
  asm("mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s %s, %s, %s, %s;"
      : %s
      : %s);
}
`, name, array, in, strings.Join(params, ", "), k, acc, t, t, acc, list(0, d.N), list(d.N, a.N), list(d.N+a.N, b.N), list(0, d.N),
		registerList("+"+constraint, "d", d.N), strings.Join(inputs, ", "))
	return call(name, args...)
}
