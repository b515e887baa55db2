package device

import (
	"testing"
	"unsafe"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// Blocks counts whole clusters, and a grid is of whole clusters.
func TestClusters(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		k := scaleKernel()
		k.Cluster, k.Source = 4, scaleClustered(4)
		k.Build = func() (Program, error) { return scaleProgram{4}, nil }
		f := must(d.Load(k))
		if n := f.Blocks(); n < 4 || n%4 != 0 {
			t.Errorf("%d blocks", n)
		}
		s := d.Stream()
		ok(t, s.Launch(f, 8, unsafe.Pointer(&scaleArgs{})))
		ok(t, s.Sync(background))
		ok(t, s.Launch(f, 0, unsafe.Pointer(&scaleArgs{})))
		is(t, s.Launch(f, 6, unsafe.Pointer(&scaleArgs{})), ErrShape, "scale", "6 blocks", "clusters of 4")
		for _, n := range []int{-1, 2 * d.Target().Cluster} {
			bad := scaleKernel()
			bad.Cluster = n
			_, err := d.Load(bad)
			is(t, err, ErrTarget, "scale", d.Target().Name)
		}
	})
	sim := opened(t, "sim", WithTarget("sm_80"))
	k := scaleKernel()
	k.Cluster = 2
	_, err := sim.Load(k)
	is(t, err, ErrTarget, "sm_80 has up to 1")
	k.Cluster = 1
	must(sim.Load(k))
}

// Clusters fill groups of SMs: 132 SMs in groups of 16 hold 8 groups of 2 clusters of 8 at a block an SM, and 4 SMs are
// left over.
func TestClustersAreCountedByTheDriver(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	drv := newFake(fake.H200)
	d := opened(t, "cuda:0", withFake(drv, &fakeCompiler{}))
	k := scaleKernel()
	k.Cluster, k.Shared = 8, 200<<10
	if n := must(d.Load(k)).Blocks(); n != 128 {
		t.Errorf("%d blocks, want 128", n)
	}
	small := fake.H200
	small.SMs = 4
	d = opened(t, "cuda:0", withFake(newFake(small), &fakeCompiler{}))
	_, err := d.Load(k)
	is(t, err, ErrTarget, "kernel scale", "cluster of 8 blocks of 64 threads")
}
