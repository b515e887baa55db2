package bind

import (
	"errors"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile"
)

type countArgs struct {
	Mine tile.Global[tile.I32] `tile:"rows"`
	Y    tile.Global[tile.I32] `tile:"parts"`
}

// count loops over rows on a grid of exactly parts blocks; each block writes its number of iterations into Y.
func count() (*tile.Kernel, error) {
	return tile.Define("count", func(k *tile.Builder, a countArgs) {
		n := tile.NewVar(k, tile.I32(0))
		for row := range tile.Persistent(k, a.Mine.Dim(0), tile.Blocks(a.Y.Dim(0))) {
			n.Set(n.Get().Add(tile.I32(1)))
			tile.Store(k, a.Mine.At(row), k.BlockID().Int())
		}
		tile.Store(k, a.Y.At(k.BlockID()), n.Get())
	}, tile.Threads(32))
}

// counting is count's family, as a z-file has it; change spoils its one config.
func counting(t *testing.T, change func(*Config)) *Family {
	t.Helper()
	k, err := count()
	if err != nil {
		t.Fatal(err)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Kernel: &device.Kernel{Name: "count", Targets: []string{"sm_90a"}, Threads: 32, ArgBytes: low.ArgBytes, Shared: low.SharedBytes,
			Build: func() (device.Program, error) { return k, nil }},
		DTypes: []dtype.Type{dtype.I32, dtype.I32}, Max: []int{0, 0}, Exact: true, Blocks: 1, Work: []int{0},
	}
	change(&c)
	return &Family{
		Name: "launchCount", Symbols: []string{"rows", "parts"}, Configs: []Config{c},
		Fields: []Field{{Name: "Mine", Dims: []Dim{{Symbol: 0}}, Written: true}, {Name: "Y", Dims: []Dim{{Symbol: 1}}, Written: true}},
	}
}

// An exact grid is what the dimension says, however much work there is; without blocks for work it is refused.
func TestExactGrid(t *testing.T) {
	d := open(t)
	f := counting(t, func(*Config) {})
	for _, c := range []struct{ rows, parts, want int }{{7, 3, 3}, {3, 7, 7}, {0, 1, 1}, {0, 5, 5}, {0, 0, 0}} {
		fn, grid, err := f.Grid(d.Stream(), 0, []int32{int32(c.rows), int32(c.parts)}, c.rows)
		if err != nil || grid != c.want || (fn != nil) != (c.want > 0) {
			t.Errorf("rows %d, parts %d: grid %d, kernel %v, %v; want %d blocks", c.rows, c.parts, grid, fn, err, c.want)
		}
	}
	for _, c := range []struct {
		work []int
		want string
	}{
		{[]int{0}, "launchCount: Y: parts is 0, so the grid has no blocks, but there is work for 7 (rows = 7): make parts at least 1; the family's grid function says how many are resident at once"},
		{nil, "launchCount: Y: parts is 0, so the grid has no blocks, but there is work for 7: make parts at least 1; the family's grid function says how many are resident at once"},
	} {
		f := counting(t, func(config *Config) { config.Work = c.work })
		fn, grid, err := f.Grid(d.Stream(), 0, []int32{7, 0}, 7)
		var e *Error
		if fn != nil || grid != 0 || !errors.As(err, &e) || !errors.Is(err, device.ErrShape) || err.Error() != c.want {
			t.Errorf("grid %d\ngot  %v\nwant %s", grid, err, c.want)
		}
	}
}

// A kernel with clusters has grids that are counted in clusters and launched in their blocks.
func TestClusterGrid(t *testing.T) {
	const size, plenty = 4, 1 << 20
	d := open(t)
	k, err := tile.Define("count", func(k *tile.Builder, a countArgs) {
		for row := range tile.Persistent(k.Cluster(), a.Mine.Dim(0), tile.Blocks(a.Y.Dim(0))) {
			tile.Store(k.Cluster(), a.Mine.At(row), k.ClusterID().Int())
		}
		tile.Store(k, a.Y.At(k.ClusterID()), k.NumClusters().Int())
	}, tile.Threads(32), tile.ClusterSize(size))
	if err != nil {
		t.Fatal(err)
	}
	clustered := func(change func(*Config)) *Family {
		return counting(t, func(c *Config) {
			c.Kernel.Cluster, c.Kernel.Build = size, func() (device.Program, error) { return k, nil }
			change(c)
		})
	}
	exact := clustered(func(*Config) {})
	if _, grid, err := exact.Grid(d.Stream(), 0, []int32{7, 3}, 7); err != nil || grid != 3*size {
		t.Errorf("3 clusters: a grid of %d, %v", grid, err)
	}
	free := clustered(func(c *Config) { c.Exact = false })
	resident, err := free.Resident(d.Stream(), 0, []int32{plenty, 0}, plenty)
	if err != nil || resident < 1 || resident == plenty {
		t.Errorf("%d clusters are resident, %v", resident, err)
	}
	for _, c := range []struct{ work, want int }{{0, 0}, {1, size}, {plenty, resident * size}} {
		if _, grid, err := free.Grid(d.Stream(), 0, []int32{int32(c.work), 0}, c.work); err != nil || grid != c.want {
			t.Errorf("work %d: grid %d, %v; want %d", c.work, grid, err, c.want)
		}
	}
	each := clustered(func(c *Config) { c.Exact, c.Each = false, true })
	if _, grid, err := each.Grid(d.Stream(), 0, []int32{plenty, 0}, plenty); err != nil || grid != plenty*size {
		t.Errorf("a cluster each: grid %d, %v", grid, err)
	}
	if _, _, err := each.Grid(d.Stream(), 0, []int32{maxWork, 0}, maxWork); !errors.Is(err, ErrLimit) {
		t.Errorf("2^30 clusters of 4: %v, want that no grid holds them", err)
	}
	stale := clustered(func(c *Config) { c.Kernel.Cluster = 2 })
	if _, _, err := stale.Grid(d.Stream(), 0, []int32{7, 3}, 7); err == nil {
		t.Error("a generated file with another cluster is not stale")
	}
}

// A free grid has no more blocks than work, nor more than are resident, unless each iteration has a block of its own.
func TestFreeGrid(t *testing.T) {
	d := open(t)
	const plenty = 1 << 20
	for _, each := range []bool{false, true} {
		f := counting(t, func(c *Config) { c.Exact, c.Each = false, each })
		resident, err := f.Resident(d.Stream(), 0, []int32{0, 0, 0}, plenty)
		if err != nil || (resident == plenty) != each || resident < 1 {
			t.Errorf("each %v: %d blocks are resident, %v", each, resident, err)
		}
		for _, c := range []struct{ work, want int }{{0, 0}, {1, 1}, {plenty, resident}} {
			_, grid, err := f.Grid(d.Stream(), 0, []int32{int32(c.work), 0}, c.work)
			if err != nil || grid != c.want {
				t.Errorf("each %v, work %d: grid %d, %v; want %d", each, c.work, grid, err, c.want)
			}
			if n, err := f.Resident(d.Stream(), 0, []int32{0, 0, 0}, c.work); err != nil || n != c.want {
				t.Errorf("each %v, work %d: %d resident, %v; want %d", each, c.work, n, err, c.want)
			}
		}
	}
}
