package plan

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
)

// needs is what an op asks of its target beyond the common ground of sm_80 and later.
func needs(v *ir.Value) (target.Feature, bool) {
	switch v.Op {
	case ir.AtomicAdd, ir.AtomicMax, ir.AtomicMin, ir.AtomicExch, ir.AtomicCAS:
		return target.Atomics, true
	case ir.CopyAsync, ir.Commit, ir.WaitGroup:
		return target.CpAsync, true
	}
	return "", false
}

// legal refuses a kernel that its target cannot run.
func legal(s *state) error {
	if len(s.k.Targets) > 0 && !slices.Contains(s.k.Targets, s.t.Name) && !slices.Contains(s.k.Targets, s.t.Proxy) {
		return positioned(ir.Pos{}, "the kernel claims %v only; add %s to tile.Targets", s.k.Targets, s.t.Name)
	}
	var err error
	eachOp(s.k.Body, func(v *ir.Value) {
		if f, ok := needs(v); ok && !s.t.Has(f) && err == nil {
			err = positioned(v.Pos, "%s needs %s, which %s has not", v.Op, f, s.t.Name)
		}
	})
	return err
}

// eachOp visits every op of a region and of the regions below it, in program order.
func eachOp(r *ir.Region, f func(*ir.Value)) {
	if r == nil {
		return
	}
	for _, v := range r.Ops {
		f(v)
		for _, in := range v.Regions {
			eachOp(in, f)
		}
	}
}
