package plan_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

// Programs that once gave wrong results in silence.

type vectorsArgs struct {
	X, T, O tile.Global[tile.I32] `tile:"128"`
	Y       tile.Global[tile.I32] `tile:"n"`
}

type vectorsBF16 struct {
	X, Y, O tile.Global[tile.BF16] `tile:"128"`
}

func fill(n int, v int64) []int64 { return slices.Repeat([]int64{v}, n) }

// check runs a kernel with several seeds and compares an output.
func checkOutput[A any](t *testing.T, name string, dt dtype.Type, in map[string][]int64, n int, body func(*tile.Builder, A), want []int64) {
	t.Helper()
	k, err := tile.Define("regress", body, tile.Threads(64))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for seed := range uint64(5) {
		args := map[string][]int64{}
		for k, v := range in {
			args[k] = slices.Clone(v)
		}
		out, err := launch(low, dt, args, map[string]int{"n": n}, seed)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := out["o"][:len(want)]; !slices.Equal(got, want) {
			t.Fatalf("%s, seed %d: %v, want %v", name, seed, got, want)
		}
	}
}

// A shared tile's vector form must stop at a run-time extent, too.
func TestSharedTileEndsAtExtent(t *testing.T) {
	in := map[string][]int64{"x": fill(128, 1), "t": fill(128, 0), "o": fill(128, 0), "y": fill(5, 1)}
	checkOutput(t, "load", dtype.I32, in, 5, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		s, sh := b.Striped(128, 4), tile.NewShared[tile.I32](k, 128)
		tile.Store(b, sh, tile.Load(b, a.X, s))
		y := tile.Load(b, sh, s.Clip(a.Y.Dim(0)))
		tile.Store(b, a.O.At(0), y.Sum())
		tile.Store(b, a.O.At(1), y.Fill(tile.I32(0)).Sum())
	}, []int64{5, 5})
	checkOutput(t, "store", dtype.I32, in, 5, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		s, sh := b.Striped(128, 4), tile.NewShared[tile.I32](k, 128)
		tile.Store(b, sh, tile.Load(b, a.X, s))
		tile.Store(b, sh, tile.Full(b, s.Clip(a.Y.Dim(0)), tile.I32(7)))
		tile.Store(b, a.O, tile.Load(b, sh, s))
	}, []int64{7, 7, 7, 7, 7, 1, 1, 1})
}

// Masked elements are zeros only past the load's own extent: a longer operand has numbers where a shorter one ends.
func TestMasksOfOperandsThatDiffer(t *testing.T) {
	in := map[string][]int64{"x": fill(128, 1), "t": fill(128, 0), "o": fill(128, 0), "y": fill(5, 1)}
	checkOutput(t, "sum", dtype.I32, in, 5, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		s := b.Striped(128, 4)
		both := tile.Load(b, a.X, s).Add(tile.Load(b, a.Y, s))
		tile.Store(b, a.O.At(0), both.Sum())
		tile.Store(b, a.O.At(1), both.Fill(tile.I32(0)).Sum())
	}, []int64{10, 10})
}

// A read of a variable that is converted again after the variable was set still has the old value.
func TestWidenedReadOutlivesSet(t *testing.T) {
	in := map[string][]int64{"x": fill(128, 5), "y": fill(128, 1), "o": fill(128, 0)}
	checkOutput(t, "cast", dtype.BF16, in, 0, func(k *tile.Builder, a vectorsBF16) {
		b := k.Block()
		s := b.Striped(128, 2)
		v := tile.NewVar(b, tile.Load(b, a.Y, s))
		x := tile.Load(b, a.X, s)
		f := tile.Cast[tile.F32](v.Get())
		sum := f.Sum()
		v.Set(x)
		tile.Store(b, a.O, tile.Cast[tile.BF16](f.Add(sum)))
	}, fill(8, 129))
}

// What other threads of the block stored to an argument is there when it is loaded.
func TestStoreThenLoadOfAnArgument(t *testing.T) {
	ramp := make([]int64, 128)
	for i := range ramp {
		ramp[i] = int64(i)
	}
	in := map[string][]int64{"x": ramp, "t": fill(128, 0), "o": fill(128, 0), "y": fill(1, 1)}
	checkOutput(t, "store, load", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		tile.Store(b, a.T, tile.Load(b, a.X, b.Striped(128, 1)))
		tile.Store(b, a.O, tile.Load(b, a.T, b.Striped(128, 4)))
	}, ramp)
	checkOutput(t, "two stores", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		tile.Store(b, a.O, tile.Full(b, b.Striped(128, 1), tile.I32(1)))
		tile.Store(b, a.O, tile.Full(b, b.Striped(128, 4), tile.I32(2)))
	}, fill(128, 2))
	checkOutput(t, "shift", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		s := b.Striped(128, 1)
		tile.Store(b, a.T, tile.Load(b, a.X, s))
		tile.Store(b, a.T, tile.Load(b, a.T.At(1), s))
		tile.Store(b, a.O, tile.Load(b, a.T, s))
	}, append(slices.Clone(ramp[1:]), 127))
}

// Atomics are ordered with loads and stores of the same argument.
func TestAtomicsAreOrdered(t *testing.T) {
	ramp := make([]int64, 128)
	for i := range ramp {
		ramp[i] = int64(i)
	}
	in := map[string][]int64{"x": ramp, "t": fill(128, 0), "o": fill(128, 0), "y": fill(1, 1)}
	checkOutput(t, "atomic, load", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		tile.AtomicAdd(b, a.T, tile.Load(b, a.X, b.Striped(128, 4)))
		tile.Store(b, a.O, tile.Load(b, a.T, b.Striped(128, 1)))
	}, ramp)
	checkOutput(t, "leader's atomic, load", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		tile.AtomicAdd(b, a.T.At(1), tile.I32(7))
		tile.Store(b, a.O, tile.Full(b, b.Striped(128, 1), tile.LoadScalar(b, a.T.At(1))))
	}, fill(128, 7))
	checkOutput(t, "load, atomic", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		x := tile.Load(b, a.T, b.Striped(128, 1))
		tile.AtomicAdd(b, a.T, tile.Full(b, b.Striped(128, 4), tile.I32(9)))
		tile.Store(b, a.O, x)
	}, fill(128, 0))
}

// Windows that overlap from one iteration to the next are stored in order; rows that do not, without barriers.
func TestOverlappingStoresInALoop(t *testing.T) {
	in := map[string][]int64{"x": fill(128, 0), "t": fill(128, 0), "o": fill(128, 0), "y": fill(1, 1)}
	want := fill(95, 31)
	for i := range 31 {
		want[i] = int64(i)
	}
	checkOutput(t, "windows", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		for i := range tile.Range(b, 0, 32, 1) {
			tile.Store(b, a.O.At(i), tile.Full(b, b.Striped(64, 1), i.Int()))
		}
	}, want)
	// So do the tiles of a loop that is entered again elsewhere, although they lie apart from one another.
	want = fill(128, 31)
	for i := range 31 {
		want[i] = int64(i)
	}
	checkOutput(t, "rounds", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		for i := range tile.Range(b, 0, 32, 1) {
			for j := range tile.Range(b, i, 128, 64) {
				tile.Store(b, a.O.At(j), tile.Full(b, b.Striped(64, 1), i.Int()))
			}
		}
	}, want)
}

// A loop that leaves after its condition leaves what the condition stored.
func TestStoreInWhileCondition(t *testing.T) {
	in := map[string][]int64{"x": fill(128, 3), "t": fill(128, 0), "o": fill(128, 0), "y": fill(1, 1)}
	checkOutput(t, "while", dtype.I32, in, 1, func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		s1, s4, sh := b.Striped(128, 1), b.Striped(128, 4), tile.NewShared[tile.I32](k, 128)
		i := tile.NewVar(b, tile.I32(0))
		x := tile.Load(b, a.X, s1)
		tile.While(b, func() tile.Reg[tile.Bool] {
			tile.Store(b, sh, x)
			return i.Get().Lt(tile.I32(3))
		}, func() { i.Set(i.Get().Add(tile.I32(1))) })
		tile.Store(b, a.O, tile.Load(b, sh, s4))
	}, fill(128, 3))
}

// Lowering a program with a scope conflict gives the same answer each time.
func TestScopeConflictIsDeterministic(t *testing.T) {
	k, err := tile.Define("scopes", func(k *tile.Builder, a vectorsArgs) {
		b, w := k.Block(), k.Warp()
		s, sh := b.Striped(128, 1), tile.NewShared[tile.I32](k, 128)
		tile.Store(b, sh, tile.Load(b, a.X, s))
		b.Sync()
		x, y := tile.Load(b, sh, s), tile.Load(w, sh, w.Striped(128, 1))
		tile.Store(b, sh, x.Add(x))
		tile.Store(b, a.O, x)
		tile.Store(w, a.T, y)
	}, tile.Threads(64))
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for i := range 30 {
		_, err := k.Lower("sm_90a")
		if err == nil {
			t.Fatal("the conflict between block and warp is not reported")
		}
		if i == 0 {
			first = err.Error()
		} else if err.Error() != first {
			t.Fatalf("run %d: %v; before: %s", i, err, first)
		}
	}
}

// Running past the end of a shared tile into its neighbour is reported.
func TestSharedTileKeepsToItself(t *testing.T) {
	k, err := tile.Define("neighbours", func(k *tile.Builder, a vectorsArgs) {
		b := k.Block()
		s := b.Striped(32, 1)
		p, q := tile.NewShared[tile.I32](k, 32), tile.NewShared[tile.I32](k, 32)
		tile.Store(b, p, tile.Full(b, s, tile.I32(1)))
		tile.Store(b, q, tile.Full(b, s, tile.I32(2)))
		n := tile.AsIndex(tile.LoadScalar(b, a.X.At(0)))
		tile.Store(b, a.O.At(0), tile.LoadScalar(b, p.At(n)).Add(tile.LoadScalar(b, q.At(0))))
	}, tile.Threads(32))
	if err != nil {
		t.Fatal(err)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   int64
		want sim.Kind
	}{{31, ""}, {32, sim.OutOfBounds}} {
		in := map[string][]int64{"x": fill(128, c.at), "t": fill(128, 0), "o": fill(128, 0), "y": fill(1, 1)}
		_, err := launch(low, dtype.I32, in, map[string]int{"n": 1}, 1)
		var reports *sim.Errors
		if got := errors.As(err, &reports) && reports.Has(c.want); got != (c.want != "") {
			t.Errorf("element %d: %v", c.at, err)
		}
	}
}
