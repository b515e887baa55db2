package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	case ir.MBarArrive:
		if n, ok := constInt(v.Args[1]); ok && n == 1 {
			return target.MBarrier, true
		}
		return target.MBarrierTx, true
	case ir.PipeInit, ir.SlotAcquire, ir.SlotWait, ir.SlotRelease, ir.MBarInit, ir.MBarTest, ir.MBarWait, ir.MBarTrack, ir.MBarInval:
		return target.MBarrier, true
	case ir.MBarArriveTx, ir.MBarExpectTx, ir.MBarTry:
		return target.MBarrierTx, true
	case ir.CopyTensor:
		return target.TMACTA, true
	case ir.MulticastTensor:
		return target.Multicast, true
	case ir.StoreTensor, ir.ReduceTensor, ir.PrefetchTensor:
		return target.TMA, true
	case ir.MBarArriveAt, ir.MBarArriveAll, ir.StoreAsync, ir.BroadcastAsync, ir.FenceCluster:
		return target.Cluster, true
	case ir.CopyBulk, ir.StoreBulk, ir.CommitBulk, ir.WaitBulk, ir.WaitBulkRead, ir.FenceAsync, ir.FenceAsyncGlobal:
		return target.Bulk, true
	case ir.SetMaxRegs:
		return target.SetMaxNReg, true
	case ir.Elect:
		return target.Elect, true
	case ir.LoadMatrix:
		return target.LdMatrix, true
	case ir.StoreMatrix:
		return target.StMatrix, true
	case ir.MMA:
		i := v.Attr.(*ir.MMAInfo)
		switch {
		case v.Scope == ir.ScopeGroup && i.Cut:
			return target.WGMMA, true
		case i.DT.Is8() && i.DT.IsFloat():
			return target.MMAFloat8, true
		}
		return target.MMASync, true
	case ir.MoveMatrix, ir.WaitMMA:
		return target.MMASync, true
	}
	return "", false
}

// loweringSet names the set of lowerings of a kernel for a target: those of one set give one text. Slots are filled by bulk
// and tensor copies where the target has them, and warpgroups multiply by wgmma.
func loweringSet(k *ir.Kernel, t *target.Target) string {
	warpgroups := false
	ir.EachOp(k.Body, func(v *ir.Value) { warpgroups = warpgroups || byWarpgroup(t, v) })
	switch {
	case warpgroups:
		return "wgmma"
	case len(k.Pipelines) == 0:
		return "simt"
	case t.Has(target.Bulk):
		return "bulk"
	}
	return "cp_async"
}

// legal refuses a kernel that its target cannot run.
func legal(s *state) error {
	if len(s.k.Targets) > 0 && !slices.Contains(s.k.Targets, s.t.Name) && !slices.Contains(s.k.Targets, s.t.Proxy) {
		return positioned(ir.ErrTarget, s.k.Pos, "the kernel claims %s only; add %q to tile.Targets", strings.Join(s.k.Targets, ", "), s.t.Name)
	}
	if err := clusters(s); err != nil {
		return err
	}
	var err error
	ir.EachOp(s.k.Body, func(v *ir.Value) {
		if f, ok := needs(v); ok && !s.t.Has(f) && err == nil {
			err = positioned(ir.ErrTarget, v.Pos, "%s needs %s, which %s has not; leave the target out with tile.Targets", ir.Table[v.Op].Go, f, s.t.Name)
		}
		if byWarpgroup(s.t, v) && err == nil {
			err = wgmmaFits(s, v)
		}
	})
	return err
}

// clusters refuses clusters that the target has not.
func clusters(s *state) error {
	n, t := s.k.Cluster, s.t
	if n == 0 || t.Has(target.Cluster) && n <= t.Cluster {
		return nil
	}
	var have []string
	for _, name := range target.Names() {
		if o, err := target.Lookup(name); err == nil && o.Has(target.Cluster) && n <= o.Cluster && o.Proxy == "" {
			have = append(have, strconv.Quote(name))
		}
	}
	most := "no clusters"
	if t.Has(target.Cluster) {
		most = fmt.Sprintf("clusters of at most %d", t.Cluster)
	}
	return positioned(ir.ErrTarget, s.k.Pos, "ClusterSize(%d): %s has %s; define the kernel with tile.Targets(%s), and another for the other targets", n, t.Name, most, strings.Join(have, ", "))
}
