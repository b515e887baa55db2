package plan

import (
	"fmt"

	"github.com/gotile/gotile/internal/ir"
)

// flow is what the lowering knows of a kernel before it starts: which ops have an effect in the end, who uses what,
// and which rank-0 values are the same.
type flow struct {
	live  map[*ir.Value]bool
	users map[*ir.Value][]*ir.Value
	canon map[*ir.Value]*ir.Value
	dest  map[*ir.Value]string // name of the argument a value is stored to
}

func newFlow(k *ir.Kernel) *flow {
	f := &flow{live: map[*ir.Value]bool{}, users: map[*ir.Value][]*ir.Value{}, canon: map[*ir.Value]*ir.Value{}, dest: map[*ir.Value]string{}}
	f.unify(k.Body, nil)
	ir.EachOp(k.Body, func(v *ir.Value) {
		if !ir.Table[v.Op].Pure() && v.Op != ir.Get && ir.Table[v.Op].Class != ir.Reduction && ir.Table[v.Op].Class != ir.Collective {
			f.mark(v)
		}
		if v.Op == ir.Store {
			if a := v.Attr.(*ir.Access); a.Arg != nil && f.dest[v.Args[0]] == "" {
				f.dest[f.canonical(v.Args[0])] = a.Arg.Name
			}
		}
	})
	// In program order, so that whatever walks users is deterministic.
	ir.EachOp(k.Body, func(v *ir.Value) {
		if !f.live[v] || f.canonical(v) != v {
			return
		}
		for _, a := range v.Args {
			a = f.canonical(a)
			f.users[a] = append(f.users[a], v)
		}
		for _, r := range v.Regions {
			if r != nil && r.Yield != nil {
				y := f.canonical(r.Yield)
				f.users[y] = append(f.users[y], v)
			}
		}
	})
	return f
}

func (f *flow) canonical(v *ir.Value) *ir.Value {
	if c := f.canon[v]; c != nil {
		return c
	}
	return v
}

// mark makes an op and what it needs live.
func (f *flow) mark(v *ir.Value) {
	v = f.canonical(v)
	if f.live[v] {
		return
	}
	f.live[v] = true
	for _, a := range v.Args {
		f.mark(a)
	}
	for _, r := range v.Regions {
		if r != nil && r.Yield != nil {
			f.mark(r.Yield)
		}
	}
	if s := v.Type.Span; s != nil {
		for _, e := range s.Extent {
			if e != nil {
				f.mark(e)
			}
		}
	}
}

// unify finds pure rank-0 ops that repeat one of the same or an enclosing region: index arithmetic is written afresh
// at every use and should be computed once.
func (f *flow) unify(r *ir.Region, outer map[string]*ir.Value) {
	if r == nil {
		return
	}
	seen := make(map[string]*ir.Value, len(outer))
	for k, v := range outer {
		seen[k] = v
	}
	for _, v := range r.Ops {
		for _, in := range v.Regions {
			f.unify(in, seen)
		}
		if !ir.Table[v.Op].Pure() || v.Type.Span != nil || v.Op == ir.Asm {
			continue
		}
		key := fmt.Sprint(v.Op, v.Type.DT, v.Attr)
		for _, a := range v.Args {
			a = f.canonical(a)
			if a.Op == ir.Const {
				key += fmt.Sprint(" #", a.Attr, a.Type.DT)
			} else {
				key += fmt.Sprintf(" %p", a)
			}
		}
		if first := seen[key]; first != nil {
			f.canon[v] = first
		} else {
			seen[key] = v
		}
	}
}
