package cuda

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// atomicPTX are the instructions of atomics and, by type, what they call their operands. Types of the bits alone take
// registers of any type of that size.
var atomicPTX = map[thr.Fn]struct {
	instruction string
	types       map[dtype.Type]string
}{
	thr.AtomicAdd:  {"add", map[dtype.Type]string{dtype.F32: "f32", dtype.I32: "s32", dtype.U32: "u32", dtype.I64: "u64"}},
	thr.AtomicMax:  {"max", map[dtype.Type]string{dtype.I32: "s32", dtype.U32: "u32", dtype.I64: "s64"}},
	thr.AtomicMin:  {"min", map[dtype.Type]string{dtype.I32: "s32", dtype.U32: "u32", dtype.I64: "s64"}},
	thr.AtomicExch: {"exch", map[dtype.Type]string{dtype.F32: "b32", dtype.I32: "b32", dtype.U32: "b32", dtype.I64: "b64"}},
	thr.AtomicCAS:  {"cas", map[dtype.Type]string{dtype.I32: "b32", dtype.U32: "b32", dtype.I64: "b64"}},
}

// orderedAtomic prints an atomic with an order: CUDA's functions are relaxed, so it is inline PTX, in a function of the
// prelude such as atomic_add_acq_rel_u32. The clobber keeps the compiler from moving other accesses over it.
func (p *printer) orderedAtomic(s thr.Do) code {
	form, e := atomicPTX[s.Fn], elements[s.DT]
	name := fmt.Sprintf("%v_%v_%s", s.Fn, s.Order, e.name)
	var params, registers, inputs []string
	for i := range s.Args[1:] {
		r := string(rune('x' + i))
		params = append(params, e.ctype+" "+r)
		registers = append(registers, fmt.Sprintf("%%%d", i+2))
		inputs = append(inputs, fmt.Sprintf("%q(%s)", e.constraint, r))
	}
	p.ordered[name] = fmt.Sprintf(device+`%[1]s %[2]s(void* p, %[3]s) {
  %[1]s old;
  asm volatile("atom.%[4]v.gpu.global.%[5]s.%[6]s %%0, [%%1], %[7]s;" : "=%[8]s"(old) : "l"(p), %[9]s : "memory");
  return old;
}
`, e.ctype, name, strings.Join(params, ", "), s.Order, form.instruction, form.types[s.DT], strings.Join(registers, ", "), e.constraint, strings.Join(inputs, ", "))
	var args []code
	for _, a := range s.Args {
		args = append(args, p.expr(a))
	}
	return call(name, args...)
}
