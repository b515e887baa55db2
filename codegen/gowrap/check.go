package gowrap

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// use is what the kernels of a family, taken together, do with a tensor.
type use struct{ read, written bool }

func (f *Family) use(a *ir.Arg) use {
	var u use
	for _, v := range f.Variants {
		for _, b := range v.Kernel.IR.Args {
			if b.Field == a.Field {
				u.read, u.written = u.read || b.Read, u.written || b.Written
			}
		}
	}
	return u
}

// used refuses tensors that no kernel of the family touches: callers would have to make them for nothing.
func (f *Family) used() error {
	for _, a := range f.ir().Args {
		if !a.Scalar() && f.use(a) == (use{}) {
			return fmt.Errorf("gowrap: kernel %s: field %s is neither loaded nor stored; use it or remove it", f.Variants[0].Kernel.Name, a.Field)
		}
	}
	return nil
}

// reachable refuses configs that no launch would choose, because on each of their targets an earlier config takes the
// same types and all sizes that they take. A config may have several variants, one a lowering set.
func (f *Family) reachable() error {
	reached := map[string]bool{}
	by := map[string]string{} // the first earlier config that stands before a kernel
	for i, v := range f.Variants {
		name := v.Kernel.Name
		for _, t := range v.Targets {
			j := slices.IndexFunc(f.Variants[:i], func(e Variant) bool {
				return e.Kernel.Name != name && slices.Contains(e.Targets, t) && serves(e.Kernel, v.Kernel)
			})
			if j < 0 {
				reached[name] = true
			} else if by[name] == "" {
				by[name] = f.Variants[j].Kernel.Name
			}
		}
	}
	for _, v := range f.Variants {
		if name := v.Kernel.Name; !reached[name] && by[name] != "" {
			return fmt.Errorf("gowrap: kernel %s can never be chosen: %s, which stands before it, takes the same types and at least its sizes on its targets; remove one, or list the smaller first",
				name, by[name])
		}
	}
	return nil
}

// serves reports whether a kernel takes all arguments that another one takes.
func serves(k, other *thr.Kernel) bool {
	if whole := k.WholeText(); whole != "" && whole != other.WholeText() {
		return false
	}
	for i, a := range k.IR.Args {
		if !a.Scalar() && a.DT != other.IR.Args[i].DT {
			return false
		}
	}
	for i, s := range k.IR.Symbols {
		if most := other.IR.Symbols[i].Max; s.Max > 0 && (most == 0 || most > s.Max) { // 0: no limit
			return false
		}
	}
	return true
}
