package optest

import "github.com/gotile/gotile/tile"

// dependentArgs: Y = X + W, the same W for all rows, which no kernel writes.
type dependentArgs struct {
	X, Y tile.Global[tile.I32] `tile:"rows,n"`
	W    tile.Global[tile.I32] `tile:"n"`
}

const dependentCap = 512

// dependent may begin before the kernel ahead of it is over, and lets the next one begin: what it loads of W overlaps.
func dependent(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a dependentArgs) {
		block := k.Block()
		span := block.Striped(dependentCap, 2).Clip(a.X.Dim(1))
		w := tile.Load(block, a.W, span)
		k.WaitPrerequisites()
		k.LaunchDependents()
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			tile.Store(block, a.Y.Row(row), tile.Load(block, a.X.Row(row), span).Add(w))
		}
	}, tile.Threads(128), tile.Targets(bulkTargets...), tile.Doc("y = x + w, beginning while the kernel ahead is still running."))
}

func dependentKernels() tile.Set { return family(kernel{"op_dependent", dependent}) }
