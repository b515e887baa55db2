package tile_test

import "github.com/gotile/gotile/tile"

// A kernel that may begin while the one ahead of it on the stream still runs, and lets the next one do so. W is written
// by none of them, so it may be loaded before the wait.
func ExampleBuilder_WaitPrerequisites() {
	type args struct {
		X, Y tile.Global[tile.F32] `tile:"rows,256"`
		W    tile.Global[tile.F32] `tile:"256"`
	}
	show(tile.Define("add", func(k *tile.Builder, a args) {
		block := k.Block()
		span := block.Striped(256, 1)
		w := tile.Load(block, a.W, span)
		k.WaitPrerequisites()
		k.LaunchDependents()
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			tile.Store(block, a.Y.Row(row), tile.Load(block, a.X.Row(row), span).Add(w))
		}
	}, withClusters))
	// Output:
	// kernel add(x f32[rows,256] r, y f32[rows,256] w, w f32[256] r) threads 256 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = load w[0] : f32 #0
	//   wait_prerequisites
	//   launch_dependents
	//   persistent rows, 1 { %4
	//     %5 = load x[%4, 0] : f32 #0
	//     %6 = add %5, %0 : f32 #0
	//     store %6 y[%4, 0] : #0
	//   }
}
