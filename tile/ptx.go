package tile

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// Any is a Reg of any element type, a Scalar or an Index: an operand of PTX.
type Any interface {
	traced
}

// types are the element types of values; poisoned ones have none.
func types(vs []*ir.Value) []dtype.Type {
	out := make([]dtype.Type, len(vs))
	for i, v := range vs {
		if v != nil {
			out[i] = v.Type.DT
		}
	}
	return out
}

var placeholder = regexp.MustCompile(`%(\d+)`)

// PTX is one inline PTX instruction, applied element by element: %0 in the template is the result, %1 the first
// operand. sim is the same on bit patterns in the low bits, for the simulator; it has no state. There is at least one
// operand.
//
//	hi := tile.PTX[tile.U32]("mul.hi.u32 %0, %1, %2;", func(in []uint64) uint64 { return in[0] * in[1] >> 32 }, x, y)
func PTX[T Elem](template string, sim func(in []uint64) uint64, operands ...Any) Reg[T] {
	var b *ir.Builder
	for _, o := range operands {
		if b == nil {
			b = builder(o)
		}
	}
	if b == nil {
		return Reg[T]{}
	}
	var args []*ir.Value
	for _, o := range operands {
		if o == nil {
			b.Errorf(ir.Asm, ErrScope, "an operand of PTX is nil; give a Reg, a Scalar or an Index")
			return Reg[T]{b: b}
		}
		ob, v := o.traced()
		args = append(args, owned(b, ir.Asm, operandOf(ir.Asm), ob, v))
	}
	if sim == nil {
		b.Errorf(ir.Asm, ErrTarget, "PTX %q without a function for the simulator; give one that computes the same", template)
		return Reg[T]{b: b}
	}
	for i, t := range append([]dtype.Type{dtypeOf[T]()}, types(args)...) {
		if t.Is16() || t.Is8() || t == dtype.Bool {
			b.Errorf(ir.Asm, ErrDType, "PTX %q has %v as %%%d: registers of PTX are f32, i32, u32 or i64; cast, or bitcast through u32", template, t, i)
			return Reg[T]{b: b}
		}
	}
	if i := strings.IndexFunc(template, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' && r != '\n' && r != '\t' }); i >= 0 {
		b.Errorf(ir.Asm, ErrTarget, "PTX %q has %q at byte %d: PTX is ASCII; drop it", template, template[i:i+1], i)
		return Reg[T]{b: b}
	}
	used := make([]bool, len(operands)+1)
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n >= len(used) {
			b.Errorf(ir.Asm, ErrShape, "PTX %q names %s, but has %s; name %%0 for the result, %%1 for the first operand", template, m[0], ir.Count(len(operands), "operand"))
			return Reg[T]{b: b}
		}
		used[n] = true
	}
	for n, u := range used {
		if !u {
			b.Errorf(ir.Asm, ErrShape, "PTX %q does not name %%%d; name %%0 for the result, %%1 for the first operand", template, n)
			return Reg[T]{b: b}
		}
	}
	return Reg[T]{b: b, v: b.Apply(ir.Asm, &ir.AsmInfo{Template: template, Sim: sim}, dtypeOf[T](), args...)}
}
