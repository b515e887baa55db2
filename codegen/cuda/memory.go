package cuda

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// access is one kind of load or store; each that a kernel uses becomes a function of its prelude, load_f32x4_cs_if.
//
// All are inline PTX. A predicated access is one predicated instruction: ptxas zeroes the destination and issues
// @P LDG, without a branch, and the loads of an unrolled loop are in flight together (seen in the SASS of sm_90a). The
// zeros come in through "+" operands, so that no address register can be overwritten before it is read. Loads and
// stores are volatile with a memory clobber: the compiler must not move them over one another or over barriers; ptxas
// still schedules them freely where addresses allow. Read-only loads (nc) have neither, so they may also be hoisted
// and merged.
type access struct {
	store bool
	space thr.Space
	cache ir.Cache
	elem  element
	n     int  // elements: 1 by value, 2 or 4 through a pointer to registers
	pred  bool // with a predicate
	order ir.Order
	peer  bool // shared: of a block of the cluster, by an address of peer_shared
}

// element is the type of one register of an access.
type element struct {
	name       string // in the function's name: f32
	ctype      string // of the register
	ptx        string // .f32
	constraint string // of inline PTX
}

var elements = map[dtype.Type]element{
	dtype.F32: {"f32", "float", "f32", "f"},
	dtype.I32: {"i32", "int", "s32", "r"},
	dtype.U32: {"u32", "u32", "u32", "r"},
	dtype.I64: {"i64", "i64", "s64", "l"},
}

// narrow are the accesses below 32 bits, by bytes; their register has 32.
var narrow = map[int]element{1: {"u8", "u32", "u8", "r"}, 2: {"u16", "u32", "u16", "r"}}

// newAccess chooses the access for a number of bytes and registers of a type.
func (p *printer) newAccess(store bool, space thr.Space, rank thr.Expr, t dtype.Type, bytes int, cache ir.Cache, order ir.Order, pred bool) (access, bool) {
	a := access{store: store, space: space, cache: cache, n: 1, pred: pred, order: order, peer: rank != nil}
	e, ok := elements[t]
	if n, small := narrow[bytes]; small && (t == dtype.I32 || t == dtype.U32 || t == dtype.Bool && bytes == 1 || t.Is16() && bytes == 2) {
		a.elem = n
	} else if size := t.Size(); ok && bytes%size == 0 && (bytes == 4 || bytes == 8 || bytes == 16) {
		a.elem, a.n = e, bytes/size
	} else {
		p.fail("no access of %d bytes for registers of %v", bytes, t)
		return a, false
	}
	if space == thr.Shared {
		a.cache = ir.CacheDefault // hints are about global memory
	}
	if store && a.cache == ir.CacheReadOnly {
		p.fail("a store cannot have the read-only hint")
		return a, false
	}
	if order != ir.Relaxed && (space == thr.Shared || a.n > 1 || cache != ir.CacheDefault) {
		p.fail("an access of %d bytes of %v memory with order %v", bytes, space, order)
		return a, false
	}
	p.accesses[a.name()] = a
	return a, true
}

// name is such as load_f32x4_cs_if or store_shared_u16.
func (a access) name() string {
	s := "load"
	if a.store {
		s = "store"
	}
	switch {
	case a.peer:
		s += "_cluster"
	case a.space == thr.Shared:
		s += "_shared"
	}
	s += "_" + a.elem.name
	if a.n > 1 {
		s += fmt.Sprintf("x%d", a.n)
	}
	if a.cache != ir.CacheDefault {
		s += "_" + a.cache.String()
	}
	if a.order != ir.Relaxed {
		s += "_" + a.order.String()
	}
	if a.pred {
		s += "_if"
	}
	return s
}

// hintText is what a hint adds to an instruction.
var hintText = [...]string{ir.CacheStreaming: ".cs", ir.CacheReadOnly: ".nc", ir.CacheGlobal: ".cg",
	ir.CacheEvictFirst: ".L1::evict_first.L2::cache_hint", ir.CacheEvictLast: ".L1::evict_last.L2::cache_hint"}

// policies are the functions that make the policy of a hint.
var policies = map[ir.Cache]string{ir.CacheEvictFirst: "evict_first()", ir.CacheEvictLast: "evict_last()"}

// text is the function. Operands are numbered: the registers, the address, the cache policy, the predicate.
func (a access) text() string {
	var regs, operands []string
	for i := range a.n {
		regs = append(regs, fmt.Sprintf("%%%d", i))
		operands = append(operands, fmt.Sprintf("%q(%s)", a.mode()+a.elem.constraint, a.register(i)))
	}
	registers := strings.Join(regs, ", ")
	if a.n > 1 {
		registers = "{" + registers + "}"
	}
	address, policy := fmt.Sprintf("[%%%d]", a.n), ""
	if policies[a.cache] != "" {
		policy = fmt.Sprintf(", %%%d", a.n+1)
	}
	instruction := a.instruction() + " " + registers + ", " + address + policy + ";"
	if a.store {
		instruction = a.instruction() + " " + address + ", " + registers + policy + ";"
	}
	inputs := []string{`"l"(p)`}
	switch {
	case a.peer:
		inputs[0] = `"r"(p)`
	case a.space == thr.Shared:
		inputs[0] = `"r"((u32)__cvta_generic_to_shared(p))`
	}
	if policy != "" {
		inputs = append(inputs, `"l"(`+policies[a.cache]+")")
	}
	if a.pred {
		instruction = fmt.Sprintf("{ .reg .pred q; setp.ne.u32 q, %%%d, 0; @q %s }", a.n+len(inputs), instruction)
		inputs = append(inputs, `"r"((u32)on)`)
	}

	outputs := strings.Join(operands, ", ")
	if a.store {
		inputs, outputs = append(operands, inputs...), ""
	}
	asm, clobber := "asm volatile", ` : "memory"`
	if a.cache == ir.CacheReadOnly {
		asm, clobber = "asm", ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s {\n", device, a.signature())
	b.WriteString(a.prologue())
	fmt.Fprintf(&b, "  %s(\"%s\" : %s : %s%s);\n", asm, instruction, outputs, strings.Join(inputs, ", "), clobber)
	if !a.store && a.n == 1 {
		b.WriteString("  return r;\n")
	}
	return strings.ReplaceAll(b.String(), " :  : ", " :: ") + "}\n"
}

// mode is the way an operand of inline PTX is used.
func (a access) mode() string {
	switch {
	case a.store:
		return ""
	case a.pred:
		return "+"
	}
	return "="
}

func (a access) register(i int) string {
	if a.n == 1 {
		return "r"
	}
	return fmt.Sprintf("r[%d]", i)
}

func (a access) instruction() string {
	s := "ld"
	if a.store {
		s = "st"
	}
	if a.order != ir.Relaxed {
		s += "." + a.order.String() + ".gpu"
	}
	switch {
	case a.peer:
		s += ".shared::cluster"
	case a.space == thr.Shared:
		s += ".shared"
	default:
		s += ".global"
	}
	s += hintText[a.cache]
	if a.n > 1 {
		s += fmt.Sprintf(".v%d", a.n)
	}
	return s + "." + a.elem.ptx
}

func (a access) signature() string {
	on, from, to := "", "const void*", "void*"
	if a.pred {
		on = ", bool on"
	}
	if a.peer {
		from, to = "u32", "u32"
	}
	switch {
	case a.store && a.n == 1:
		return fmt.Sprintf("void %s(%s p, %s r%s)", a.name(), to, a.elem.ctype, on)
	case a.store:
		return fmt.Sprintf("void %s(%s p, const %s* r%s)", a.name(), to, a.elem.ctype, on)
	case a.n == 1:
		return fmt.Sprintf("%s %s(%s p%s)", a.elem.ctype, a.name(), from, on)
	}
	return fmt.Sprintf("void %s(%s* r, %s p%s)", a.name(), a.elem.ctype, from, on)
}

// prologue declares the result and sets the zeros of a predicated load.
func (a access) prologue() string {
	switch {
	case a.store:
		return ""
	case a.n == 1 && a.pred:
		return "  " + a.elem.ctype + " r = 0;\n"
	case a.n == 1:
		return "  " + a.elem.ctype + " r;\n"
	case a.pred:
		s := "  "
		for i := range a.n {
			s += a.register(i) + " = "
		}
		return s + "0;\n"
	}
	return ""
}
