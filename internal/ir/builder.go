package ir

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/gotile/gotile/dtype"
)

// DefaultLimit is the number of ops a kernel may record.
const DefaultLimit = 20000

// errorLimit is the number of mistakes after which recording stops.
const errorLimit = 1000

// Builder records a kernel. Its methods never panic on a mistake: they note it with the author's position and return
// nil, a poisoned value; an op with a poisoned operand is poisoned in silence, so that a mistake is reported once.
type Builder struct {
	Kernel *Kernel
	Limit  int // most ops; 0: DefaultLimit

	cur    *Region
	next   int // ID of the next value
	count  int // ops recorded
	second int // depth of second recordings
	done   bool
	errs   Errors
	as     Pos // what is recorded is done for the author's function there; unknown: by the caller

	consts map[constant]*Value
	leaves map[any]*Value // by *Symbol, *Arg
}

type constant struct {
	dt   dtype.Type
	bits Bits
}

// NewBuilder starts a kernel.
func NewBuilder(name string) *Builder {
	root := &Region{}
	return &Builder{
		Kernel: &Kernel{Name: name, Body: root},
		cur:    root,
		consts: map[constant]*Value{},
		leaves: map[any]*Value{},
	}
}

// stop unwinds the author's function when going on makes no sense.
type stop struct{}

// Fail ends the author's function with a mistake of something that no kernel can be told from, such as a nil scope:
// Run notes it.
func Fail(rule error, format string, args ...any) {
	panic(&Error{Pos: Here(0), Rule: rule, Msg: fmt.Sprintf(format, args...)})
}

// Run calls the author's function. Its panic becomes an error of rule ErrPanic, or the one given to Fail.
func (b *Builder) Run(f func()) {
	defer func() {
		switch r := recover().(type) {
		case nil, stop:
		case *Error:
			b.errs = append(b.errs, r)
		default:
			cause, _ := r.(error)
			b.errs = append(b.errs, &Error{Pos: Here(0), Rule: ErrPanic, Msg: fmt.Sprintf("panic: %v", r), Cause: cause, Stack: string(debug.Stack())})
		}
	}()
	f()
}

// Finish is the kernel, or what is wrong with it.
func (b *Builder) Finish() (*Kernel, error) {
	b.refuseStaleReads(b.Kernel.Body)
	if r := b.cur; r != b.Kernel.Body && len(b.errs) == 0 { // after a mistake that ended the function, this is no other
		b.errorAt(r.Owner.Pos, r.Owner.Op, ErrControl, "the body of this %s was begun and not ended: a panic in it was recovered, or iter.Pull stopped early; leave the panic to Define, and write loops with for range",
			Table[r.Owner.Op].Go)
	}
	b.checkRoles()
	b.checkPipelines()
	b.checkBarriers()
	b.checkRegisters()
	b.done = true
	if len(b.errs) > 0 {
		return nil, b.errs.sorted()
	}
	if err := Verify(b.Kernel); err != nil {
		return nil, fmt.Errorf("internal error: recorded kernel %s: %w", b.Kernel.Name, err)
	}
	return b.Kernel, nil
}

// refuseStaleReads finds read-only loads and asynchronous copies of arguments that the kernel writes: they may give what
// was there before.
func (b *Builder) refuseStaleReads(r *Region) {
	if r == nil || len(b.errs) >= errorLimit/2 {
		return
	}
	for _, v := range r.Ops {
		if a, ok := v.Attr.(*Access); ok && v.Op == Load && a.Cache == CacheReadOnly && a.Arg != nil && a.Arg.Written {
			b.errorAt(v.Pos, Load, ErrTarget, "Load of %s with the read-only hint, but the kernel writes %s: the read-only path may give old values; drop the hint", a.Arg.Field, a.Arg.Field)
		}
		if i, ok := v.Attr.(*CopyInfo); ok && i.Src.Written {
			b.errorAt(v.Pos, CopyAsync, ErrTarget, "CopyAsync from %s, but the kernel writes %s: the copy may read before a store or after it; use Load and Store", i.Src.Field, i.Src.Field)
		}
		if i, ok := v.Attr.(*BulkInfo); ok && v.Op == CopyBulk && i.Arg.Written && !b.Kernel.FencesGlobal {
			b.errorAt(v.Pos, CopyBulk, ErrTarget, "CopyBulk from %s, but the kernel writes %s: the copy may read before a store or after it; use Load and Store, or order them by FenceAsyncGlobal", i.Arg.Field, i.Arg.Field)
		}
		if i, ok := v.Attr.(*BulkInfo); ok && v.Op == StoreBulk && i.Arg.Read {
			b.errorAt(v.Pos, StoreBulk, ErrTarget, "StoreBulk to %s, but the kernel reads %s: the planner does not order the two; use Store, or a tile for what is read", i.Arg.Field, i.Arg.Field)
		}
		if i, ok := v.Attr.(*TensorInfo); ok && v.Op != ReduceTensor && i.Arg.Read && i.Arg.Written {
			b.errorAt(v.Pos, v.Op, ErrTarget, "%s of %s, which the kernel reads and writes: the planner does not order the two; use Load and Store, or a tensor for what is read", Table[v.Op].Go, i.Arg.Field)
		}
		for _, in := range v.Regions {
			b.refuseStaleReads(in)
		}
	}
}

// Errorf notes a mistake at the caller's position.
func (b *Builder) Errorf(op Op, rule error, format string, args ...any) {
	pos := b.as
	if !pos.Known() {
		pos = Here(0)
	}
	b.errorAt(pos, op, rule, format, args...)
}

// For records what a template does around a function of its author's, which has the position of that function's beginning.
func (b *Builder) For(f any, record func()) {
	b.as = beginOf(f)
	record()
	b.as = Pos{}
}

// Reject notes a mistake in the definition as a whole, at the caller's position.
func (b *Builder) Reject(rule error, format string, args ...any) {
	b.errorAt(Here(0).Alone(), Invalid, rule, format, args...)
}

// errorAt notes a mistake at a position.
func (b *Builder) errorAt(pos Pos, op Op, rule error, format string, args ...any) {
	if b.done {
		return
	}
	e := &Error{Pos: pos, Op: op, Rule: rule, Msg: fmt.Sprintf(format, args...)}
	for _, o := range b.errs {
		if o.Pos == e.Pos && o.Msg == e.Msg { // an unrolled loop makes one mistake many times
			return
		}
	}
	b.errs = append(b.errs, e)
	if len(b.errs) >= errorLimit {
		panic(stop{})
	}
}

func (b *Builder) fault(op Op, f *fault) { b.Errorf(op, f.rule, "%s", f.msg) }

// emit appends an op to the current region.
func (b *Builder) emit(v *Value) *Value {
	if b.done { // a value that outlived its kernel; who uses it with another kernel's hears of it there
		return nil
	}
	if v.Pos, v.In = b.as, b.cur; !v.Pos.Known() {
		v.Pos = Here(1)
	}
	limit := b.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if b.count >= limit {
		b.errorAt(v.Pos, v.Op, ErrLimit, "the kernel records more than %d ops: a Go loop unrolls; use tile.Range for a long one, or raise tile.Limit", limit)
		panic(stop{})
	}
	b.count++
	used := v.Args
	if v.Type.Span != nil {
		used = append(used[:len(used):len(used)], v.Type.Span.Extent...)
	}
	for _, a := range used {
		if !b.visible(a) {
			b.escape(v, a)
			return nil
		}
	}
	if !b.spreads(v) {
		return nil
	}
	v.ID = b.next
	b.next++
	b.cur.Ops = append(b.cur.Ops, v)
	return v
}

// visible reports whether a value may be used here. A second recording may name values of the first: that is the mark
// of host state, and the comparison reports it.
func (b *Builder) visible(v *Value) bool { return v == nil || v.In == nil || b.reaches(v.In) }

// reaches reports whether what a region made may be used here.
func (b *Builder) reaches(r *Region) bool { return b.second > 0 || b.cur.inside(r) }

// inside reports whether a region is r or lies in it.
func (r *Region) inside(out *Region) bool {
	for ; r != nil; r = r.Parent {
		if r == out {
			return true
		}
	}
	return false
}

func (b *Builder) escape(v, a *Value) {
	name := "a value"
	switch a.Op {
	case Invalid:
		name = "the loop variable"
	case Var:
		name = "a variable"
	}
	if r := a.In.InRole(); r != nil && r != b.cur.InRole() {
		b.errorAt(v.Pos, v.Op, ErrScope, "%s made in the %s at %s is used by warps of another role, which do not have it; let them compute it too, or hand it over through a pipeline", name, r.Name, a.Pos)
		return
	}
	b.errorAt(v.Pos, v.Op, ErrScope, "%s made in %s at %s is used outside it: it ends with its region; declare a variable with tile.NewVar before the %s and Set it inside",
		name, a.In.kind(), a.Pos, Table[a.In.Owner.Op].Go)
}

// kind names a region of a loop or a conditional in messages.
func (r *Region) kind() string {
	switch {
	case r.Role != nil:
		return "the role"
	case r.Owner.Op == If:
		return "the branch"
	}
	return "the loop body"
}

// scope is the scope of the current region: ops of a wider one cannot stand here.
func (b *Builder) scope() Scope { return b.cur.scope() }

func (r *Region) scope() Scope {
	switch {
	case r.Owner == nil:
		return ScopeCluster
	case r.Role != nil:
		return r.Role.Scope
	}
	return r.Owner.Scope
}

// executes checks that an op of scope s may stand in the current region.
func (b *Builder) executes(op Op, s Scope) bool {
	if s > b.scope() {
		owner := b.cur.Owner
		if r := b.cur.InRole(); r != nil && s > r.Scope {
			b.Errorf(op, ErrScope, "%s of scope %v stands in the %s of %s: the block's other warps do not come here; give it the role's own scope, or move it out of Roles",
				Table[op].Go, s, r.Name, r.Pos)
			return false
		}
		b.Errorf(op, ErrScope, "%s of scope %v stands in the %v's %s at %s: the other %s do not come here; move it out, or give the %s scope %v",
			Table[op].Go, s, owner.Scope, Table[owner.Op].Go, owner.Pos, s.Parts(), Table[owner.Op].Go, s)
		return false
	}
	return true
}

// uniform checks that a value of rank 0 is the same in all threads of scope s.
func (b *Builder) uniform(op Op, s Scope, what string, v *Value) bool {
	switch {
	case v.Type.Span != nil:
		b.Errorf(op, ErrShape, "%s of %s has rank %d: it must be one value; reduce it first", what, Table[op].Go, v.Type.Span.Rank())
	case v.Scope < s:
		b.Errorf(op, ErrScope, "%s of %s differs among the %v's %s (it comes from %s); use the %v as the scope", what, Table[op].Go, s, s.Parts(), v.Pos, v.Scope)
	default:
		return true
	}
	return false
}

// Const is a constant of a type; bits are its pattern (16-bit types: 16 bits). Equal constants are one value.
func (b *Builder) Const(dt dtype.Type, bits Bits) *Value {
	k := constant{dt, bits}
	if b.consts[k] == nil {
		b.consts[k] = &Value{ID: -1, Op: Const, Type: Type{DT: dt}, Attr: bits, Scope: ScopeCluster}
	}
	return b.consts[k]
}

// Int is an i32 constant.
func (b *Builder) Int(n int) *Value {
	if int(int32(n)) != n {
		b.Errorf(Const, ErrLimit, "%d does not fit an index: indices are 32-bit, at most %d; split the dimension", n, math.MaxInt32)
		return nil
	}
	return b.Const(dtype.I32, Bits(uint32(int32(n))))
}

// Dim is a dimension of an argument or of a shared tile: a symbol's leaf or a constant.
func (b *Builder) Dim(d DimSpec) *Value {
	if d.Symbol == nil {
		return b.Int(d.Size)
	}
	return b.leaf(d.Symbol, &Value{ID: -1, Op: Dim, Type: Type{DT: dtype.I32}, Attr: d.Symbol, Scope: ScopeCluster, Name: d.Symbol.Name})
}

// Param is a scalar argument.
func (b *Builder) Param(a *Arg) *Value {
	return b.leaf(a, &Value{ID: -1, Op: Param, Type: Type{DT: a.DT}, Attr: a, Scope: ScopeCluster, Name: a.Name})
}

func (b *Builder) leaf(key any, v *Value) *Value {
	if b.leaves[key] == nil {
		b.leaves[key] = v
	}
	return b.leaves[key]
}

// intConst is the value of an i32 constant.
func intConst(v *Value) (int, bool) {
	if v == nil || v.Op != Const || v.Type.DT != dtype.I32 {
		return 0, false
	}
	return int(int32(v.Attr.(Bits))), true
}
