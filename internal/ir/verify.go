package ir

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
)

// Verify checks the structure of a kernel: what every pass may rely on. A broken rule is an error of gotile, not of a
// kernel's author.
func Verify(k *Kernel) error {
	c := &checker{k: k, ids: map[int]bool{}, defined: map[*Value]bool{}}
	if k.Body == nil || k.Body.Owner != nil || k.Body.Parent != nil {
		return fmt.Errorf("ir: kernel %s: its body is missing or lies inside another region", k.Name)
	}
	c.region(k.Body)
	if len(c.errs) > 0 {
		return fmt.Errorf("ir: kernel %s:\n%s", k.Name, strings.Join(c.errs, "\n"))
	}
	return nil
}

type checker struct {
	k       *Kernel
	ids     map[int]bool
	defined map[*Value]bool // what is visible at this point
	errs    []string
}

func (c *checker) fail(v *Value, format string, args ...any) {
	c.errs = append(c.errs, fmt.Sprintf("%s: %%%d %s: %s", v.Pos, v.ID, Table[v.Op].Name, fmt.Sprintf(format, args...)))
}

// define makes a value visible until its region ends.
func (c *checker) define(v *Value) {
	if v.ID < 0 || c.ids[v.ID] {
		c.fail(v, "its ID is negative or taken")
	}
	c.ids[v.ID], c.defined[v] = true, true
}

func (c *checker) region(r *Region) {
	if r.Ind != nil {
		if r.Ind.Op != Invalid || r.Ind.In != r || r.Ind.Type != (Type{DT: dtype.I32}) {
			c.fail(r.Owner, "its induction variable is not an i32 of its region")
		}
		c.define(r.Ind)
	}
	for _, v := range r.Ops {
		c.value(v, r)
	}
	if r.Yield != nil {
		c.use(r.Owner, r.Yield)
	}
	for _, v := range r.Ops {
		delete(c.defined, v)
	}
	delete(c.defined, r.Ind)
}

// use checks that v may name a.
func (c *checker) use(v, a *Value) bool {
	switch {
	case a == nil:
		c.fail(v, "an operand is nil")
	case a.In == nil && (a.Op >= NumOps || a.Op == Invalid || Table[a.Op].Class != Leaf):
		c.fail(v, "an operand is in no region and no leaf")
	case a.In != nil && !c.defined[a]:
		c.fail(v, "operand %%%d is not visible", a.ID)
	default:
		return true
	}
	return false
}

func (c *checker) value(v *Value, r *Region) {
	if v.Op == Invalid || v.Op >= NumOps || Table[v.Op].Class == Leaf {
		c.errs = append(c.errs, fmt.Sprintf("%s: op %d cannot stand in a region", v.Pos, v.Op))
		return
	}
	info, ok := &Table[v.Op], true
	if v.In != r {
		c.fail(v, "it is listed in a region that it does not name")
	}
	for _, a := range v.Args {
		ok = c.use(v, a) && ok
	}
	if s := v.Type.Span; s != nil {
		if s.Dist == nil || len(s.Extent) != 0 && len(s.Extent) != s.Rank() {
			c.fail(v, "its span has no distribution, or %d extents", len(s.Extent))
			ok = false
		}
		for _, e := range s.Extent {
			if e == nil || !c.use(v, e) {
				continue
			}
			if e.Type != (Type{DT: dtype.I32}) {
				c.fail(v, "an extent is %v of rank %d, not an i32 of rank 0", e.Type.DT, e.Type.Span.Rank())
			}
		}
	}
	if info.Arity >= 0 && len(v.Args) != info.Arity {
		c.fail(v, "it has %d operands, not %d", len(v.Args), info.Arity)
		ok = false
	}
	if v.Scope < ScopeWarp || v.Scope > ScopeCluster {
		c.fail(v, "it has no scope")
	}
	if s := v.Type.Span; c.k.Cluster == 0 && (s != nil && s.Scope == ScopeCluster || v.Scope == ScopeCluster && !info.Pure()) {
		c.fail(v, "it belongs to the cluster of a kernel without clusters")
	}
	if info.Class != Control && len(v.Regions) > 0 {
		c.fail(v, "it has regions")
	}
	if ok {
		c.rules(v, r)
	}
	c.define(v)
	for _, in := range v.Regions {
		if in == nil {
			continue
		}
		if in.Owner != v || in.Parent != r {
			c.fail(v, "its region names another owner or parent")
		}
		c.region(in)
	}
}
