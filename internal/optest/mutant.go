//go:build !gotilegen

package optest

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// Mutant is an op that does something else: what a planner would make that is wrong about this op alone. Ops without a
// function of their own in simulator and printer are proved by mutants: the cases of the op must fail on the simulator,
// and the text must differ from the committed one. A mutant is a valid kernel, so that it fails for what it does and
// not for its form.
type Mutant struct {
	Op   ir.Op
	What string // after the op's name: "coord counts along the other axis"
	Hint bool   // nothing that the op does shows in what a kernel computes: only the text tells
	Slow bool   // it makes loops that take seconds to fail; short tests leave it out

	inert  []string                       // cases of the op that cannot tell, with the reason in the table
	record func(k *ir.Kernel) (undo undo) // changes the recorded kernel until undo, or
	lower  func(k *ir.Kernel, low *thr.Kernel) bool
}

// undo takes changes back, the last one first; empty: nothing was changed.
type undo []func()

func (u undo) run() {
	for _, f := range slices.Backward(u) {
		f()
	}
}

func (m Mutant) String() string { return m.Op.String() + " " + m.What }

// Tells reports whether a case of the op can tell the mutant.
func (m Mutant) Tells(name string) bool { return !slices.Contains(m.inert, name) }

// Lower is a kernel of the package with the mutant in it, and whether that is another kernel than the committed one.
func (m Mutant) Lower(name, target string) (low *thr.Kernel, changed bool, err error) {
	k, err := Kernels().Build(name)
	if err != nil {
		return nil, false, err
	}
	if m.record != nil {
		u := m.record(k.IR())
		defer u.run()
		changed = len(u) > 0
		if err := ir.Verify(k.IR()); err != nil {
			return nil, false, fmt.Errorf("%s: %w", m, err)
		}
	}
	if low, err = k.Lower(target); err != nil {
		return nil, false, fmt.Errorf("%s: %w", m, err)
	}
	if m.lower != nil {
		changed = m.lower(k.IR(), low)
	}
	if err := thr.Verify(low); err != nil {
		return nil, false, fmt.Errorf("%s in %s: %w", m, name, err)
	}
	return low, changed, nil
}

// Install puts the mutant into some kernels of the package, for devices that load them from now on until restore is
// called. It reports whether any is another kernel than the committed one.
func (m Mutant) Install(names ...string) (restore func(), any bool, err error) {
	var u undo
	for _, f := range families {
		for _, c := range f.Configs {
			k, was := c.Kernel, *c.Kernel
			if !slices.Contains(names, k.Name) {
				continue
			}
			low, changed, err := m.Lower(k.Name, "sm_90a")
			if err != nil {
				u.run()
				return nil, false, err
			}
			if !changed {
				continue
			}
			k.Shared = low.SharedBytes // otherwise the kernel counts as stale
			k.Build = func() (device.Program, error) { return mutated{m, k.Name}, nil }
			u = append(u, func() { k.Shared, k.Build = was.Shared, was.Build })
		}
	}
	return u.run, len(u) > 0, nil
}

// mutated is a kernel with a mutant in it.
type mutated struct {
	m    Mutant
	name string
}

func (p mutated) Lower(target string) (*thr.Kernel, error) {
	low, _, err := p.m.Lower(p.name, target)
	return low, err
}

// families are what the generated files launch.
var families = []*bind.Family{
	&arithFamily, &atomicFamily, &bitcastFamily, &boolFamily, &carryFamily, &castFamily, &chainFamily, &controlFamily,
	&floatAtomicFamily, &floatCastFamily, &foldFamily, &gatherFamily, &gridFamily, &moveFamily, &ptxFamily, &scalarFamily, &shapeFamily,
	&sharedFamily, &staticFamily, &stridedFamily, &tileFamily, &variableFamily, &vectorFamily, &warpFamily, &warpSharedFamily, &whileFamily,
	&lastBlockFamily, &treeFamily, &mailFamily, &orderFamily, &floatOrderFamily,
	&clusterRowFamily, &clusterTileFamily, &clusterGridFamily, &clusterShareFamily, &clusterPeerFamily, &clusterOrderFamily, &clusterAtomicFamily, &clusterLastFamily,
	&ringFamily, &pingPongFamily, &boxFamily, &columnsFamily, &wholeFamily,
	&exchangeFamily, &relayFamily, &pollFamily, &bulkFamily, &handOverFamily, &trackFamily,
	&tensor1Family, &tensor2Family, &tensor3Family, &tensor4Family, &tensor5Family, &haloFamily, &tensorReduceFamily, &multicastFamily,
	&piecesFamily, &passFamily, &tellFamily, &refetchFamily, &overwriteFamily, &dependentFamily,
	&pipeFamily, &pipeTensorFamily, &segmentFamily, &leaveFamily, &heldFamily, &lcsfFamily, &electFamily, &fragmentFamily, &fragmentGroupFamily,
	&scanFamily, &scanGroupFamily, &turnFamily, &turnGroupFamily, &maskFamily, &maskGroupFamily, &shiftFamily, &triangularFamily, &decayFamily, &blocksFamily,
	&matrixFamily, &matrixStoreFamily, &matrixGroupFamily,
	&mmaABFamily, &mmaABtFamily, &mmaAtBFamily, &mmaAtBtFamily, &mmaChainFamily, &mmaTF32Family,
	&mmaScaledFamily, &wgmmaScaledFamily, &bytesCastFamily, &bytesMoveFamily, &mmaSquareFamily, &mmaSquareGroupFamily,
	&wgmmaABFamily, &wgmmaABtFamily, &wgmmaAtBFamily, &wgmmaAtBtFamily, &wgmmaPipeFamily, &wgmmaChainFamily, &wgmmaClusterFamily,
	&wgmmaTF32Family, &wgmmaCutFamily, &wgmmaWideFamily, &roundTF32Family, &wgmmaBytesFamily,
}
