// Package optest holds a small kernel for every concept of the DSL and a test case for every row of the op table. The
// same cases run on the simulator, in CI, and on a GPU, through gotile verify.
//
// A case of an op begins with ir.Op.Case; one of a built-in of thread IR is named in FnCase. Tests demand that every
// row has one, and that it goes red when the row's simulator function or printer is another's or, for ops that have none
// of their own, when a mutant is lowered in its place (Mutants).
//
// How close is close enough: exact ops are compared bit by bit (any NaN equals any NaN, except where bits are moved);
// the others must lie within the table's Ulp of the true value, on every device. Approximate ops flush subnormal
// numbers, so near zero they are given the smallest normal number, and the logarithms near 1 the absolute error that
// the table states. The simulator computes approximate forms exactly (flushes apart), so there an exchange of an
// approximate op with its precise twin shows in the printed text only.
package optest

import (
	"sync"

	"github.com/gotile/gotile/tile"
)

// kernel is a configuration: a name and what defines the kernel.
type kernel struct {
	name   string
	define func(name string) (*tile.Kernel, error)
}

// KernelName is the name of the compiled kernel.
func (k kernel) KernelName() string { return k.name }

// family is kernels of one Args type, in order of preference.
func family(ks ...kernel) tile.Set {
	return tile.Configs(func(k kernel) (*tile.Kernel, error) { return k.define(k.name) }, ks...)
}

// Kernels are the committed kernels, each recorded once.
func Kernels() tile.Set { return kernels() }

var kernels = sync.OnceValue(func() tile.Set {
	return tile.Sets(
		arithKernels(), boolKernels(), chainKernels(), castKernels(), bitcastKernels(), floatCastKernels(),
		vectorKernels(), tileKernels(), foldKernels(), shapeKernels(),
		controlKernels(), whileKernels(), variableKernels(), gridKernels(), warpKernels(),
		moveKernels(), staticKernels(), stridedKernels(), gatherKernels(), sharedKernels(), carryKernels(), warpSharedKernels(),
		atomicKernels(), floatAtomicKernels(), scalarKernels(), ptxKernels(),
		lastBlockKernels(), treeKernels(), mailKernels(), orderKernels(), floatOrderKernels(),
		clusterRowKernels(), clusterTileKernels(), clusterGridKernels(), clusterShareKernels(), clusterPeerKernels(), clusterOrderKernels(), clusterAtomicKernels(), clusterLastKernels(),
		ringKernels(), pingPongKernels(), boxKernels(), columnsKernels(), wholeKernels(),
		exchangeKernels(), relayKernels(), pollKernels(), bulkKernels(), handOverKernels(), trackKernels(),
		piecesKernels(), passKernels(), tellKernels(), refetchKernels(), overwriteKernels(), dependentKernels(), tensorKernels(), tensorMoreKernels(),
		pipeKernels(), pipeTensorKernels(), segmentKernels(), leaveKernels(), heldKernels(), lcsfKernels(), electKernels(), fragmentKernels(), matrixKernels(), mmaKernels(), wgmmaKernels(), mmaScaledKernels(),
		wgmmaTF32Kernels(),
		algebraKernels(),
		bytesKernels(), mmaSquareKernels(),
	)
})
