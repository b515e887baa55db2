package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
	"github.com/gotile/gotile/tile/tiletest"
)

type rowArgs struct {
	X   tile.Global[tile.BF16] `tile:"rows,n"`
	Y   tile.Global[tile.F32]  `tile:"rows,n"`
	S   tile.Global[tile.F32]  `tile:"rows"`
	Eps tile.Scalar[tile.F32]
}

// softmaxRows has packed loads, two dependent reductions, a select and vector stores.
func softmaxRows(k *tile.Builder, a rowArgs) {
	block := k.Block()
	for row := range tile.Persistent(k, a.X.Dim(0)) {
		x := tile.Cast[tile.F32](tile.Load(block, a.X.Row(row), block.Striped(512, 4), tile.Streaming))
		e := x.Sub(x.MaxOf()).Exp()
		sum := e.Sum().Add(a.Eps)
		tile.Store(block, a.Y.Row(row), e.Div(sum))
		tile.Store(block, a.S.At(row), sum)
	}
}

type intArgs struct {
	X tile.Global[tile.I32] `tile:"steps,n"`
	Y tile.Global[tile.I32] `tile:"steps,n"`
}

// carried reads in an iteration what the last one left in shared memory.
func carried(k *tile.Builder, a intArgs) {
	block := k.Block()
	s := tile.NewShared[tile.I32](k, 128)
	wide, thin := block.Striped(128, 4).Clip(a.X.Dim(1)), block.Striped(128, 1).Clip(a.X.Dim(1))
	tile.Store(block, s, tile.Full(block, block.Striped(128, 1), tile.I32(0)))
	for i := range tile.Range(block, 0, a.X.Dim(0), 1) {
		tile.Store(block, a.Y.Row(i), tile.Load(block, s, wide))
		tile.Store(block, s, tile.Load(block, a.X.Row(i), thin))
	}
}

// pairs is a 2-D tile of packed values with a variable, a branch and a column sum.
func pairs(k *tile.Builder, a rowArgs) {
	block := k.Block()
	span := block.Striped2(8, 64, 2, 32)
	acc := tile.NewVar(block, tile.Load(block, a.X, span))
	tile.If(block, a.X.Dim(0).GtInt(4), func() { acc.Set(acc.Get().Neg()) })
	tile.Store(block, a.Y, tile.Expand(tile.Cast[tile.F32](acc.Get()).Sum(0), span, 0).Fma(a.Eps, tile.F32(1)))
	tile.Store(block, a.S, tile.Cast[tile.F32](acc.Get()).Sum(1))
}

func define[A any](t testing.TB, name string, f func(*tile.Builder, A), opts ...tile.Option) *tile.Kernel {
	t.Helper()
	k, err := tile.Define(name, f, opts...)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return k
}

func lower(t testing.TB, k *tile.Kernel) *thr.Kernel {
	t.Helper()
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	return low
}

func samples(t testing.TB) []*tile.Kernel {
	return []*tile.Kernel{define(t, "softmax_rows", softmaxRows, tile.Threads(128)), define(t, "carried", carried, tile.Threads(128)), define(t, "pairs", pairs, tile.Threads(64))}
}

func TestThreadIR(t *testing.T) {
	for _, k := range samples(t) {
		t.Run(k.Name(), func(t *testing.T) { tiletest.Golden(t, k.Name()+".txt", thr.Print(lower(t, k))) })
	}
}

// Lowering twice, and lowering a second recording, give one text; all targets share it.
func TestLoweringIsDeterministic(t *testing.T) {
	again := samples(t)
	for i, k := range samples(t) {
		first := thr.Print(lower(t, k))
		before := k.String()
		for n := range 20 {
			if got := thr.Print(lower(t, k)); got != first {
				t.Fatalf("%s: lowering %d differs:\n%s\n%s", k.Name(), n+2, first, got)
			}
		}
		if k.String() != before {
			t.Errorf("%s: lowering changed the tile IR", k.Name())
		}
		if got := thr.Print(lower(t, again[i])); got != first {
			t.Errorf("%s: a second recording lowers to another text", k.Name())
		}
	}
}

func isBarrier(s thr.Stmt) bool { d, ok := s.(thr.Do); return ok && d.Fn == thr.BlockSync }

// walk visits every list of statements.
func walk(body []thr.Stmt, f func(list []thr.Stmt) []thr.Stmt) []thr.Stmt {
	out := slices.Clone(body)
	for i, s := range out {
		switch s := s.(type) {
		case thr.For:
			s.Body = walk(s.Body, f)
			out[i] = s
		case thr.If:
			s.Then, s.Else = walk(s.Then, f), walk(s.Else, f)
			out[i] = s
		case thr.While:
			s.Head, s.Body = walk(s.Head, f), walk(s.Body, f)
			out[i] = s
		}
	}
	return f(out)
}

// without is a copy of a kernel that lacks its n-th barrier; ok is false when it has fewer.
func without(k *thr.Kernel, n int) (out *thr.Kernel, ok bool) {
	c := *k
	c.Body = walk(k.Body, func(list []thr.Stmt) []thr.Stmt {
		return slices.DeleteFunc(list, func(s thr.Stmt) bool {
			if !isBarrier(s) {
				return false
			}
			n--
			if n == -1 {
				ok = true
			}
			return n == -1
		})
	})
	return &c, ok
}

// The loop needs two barriers, one before it reads and one before it writes, and no more; each of them is needed.
func TestBarriers(t *testing.T) {
	low := lower(t, define(t, "carried", carried, tile.Threads(128)))
	n := 0
	for ; ; n++ {
		broken, ok := without(low, n)
		if !ok {
			break
		}
		_, err := launch(broken, dtype.I32, map[string][]int64{"x": make([]int64, 3*128), "y": make([]int64, 3*128)}, map[string]int{"steps": 3, "n": 128}, 1)
		if err == nil || !strings.Contains(err.Error(), "race") {
			t.Errorf("without barrier %d: %v, want a race", n, err)
		}
	}
	if n != 2 {
		t.Errorf("%d barriers, want 2:\n%s", n, thr.Print(low))
	}
	if _, err := launch(low, dtype.I32, map[string][]int64{"x": make([]int64, 3*128), "y": make([]int64, 3*128)}, map[string]int{"steps": 3, "n": 128}, 1); err != nil {
		t.Errorf("the whole kernel: %v", err)
	}
}

// A warp's accesses to shared memory are ordered by a barrier of the warp, without one of the block.
func TestWarpBarriers(t *testing.T) {
	text := thr.Print(lower(t, define(t, "k", func(k *tile.Builder, a intArgs) {
		warp := k.Warp()
		s := tile.NewShared[tile.I32](k, k.Warps(), 32)
		mine := s.At(warp.Index())
		tile.Store(warp, mine, tile.Load(warp, a.X, warp.Striped(32, 1)))
		tile.Store(warp, a.Y, tile.Load(warp, mine, warp.Striped(32, 2)))
	})))
	if strings.Count(text, "warp_sync") != 1 || strings.Contains(text, "block_sync") {
		t.Errorf("want one barrier of the warp:\n%s", text)
	}
}

// Products that meet a sum or a difference in one expression are fused; those in 16-bit types, which are rounded first,
// and those kept for another use are not.
func TestContraction(t *testing.T) {
	type args struct {
		X, Y tile.Global[tile.F32]  `tile:"n"`
		H    tile.Global[tile.BF16] `tile:"n"`
	}
	fused := func(f func(k *tile.Builder, a args, x, y tile.Reg[tile.F32])) string {
		return thr.Print(lower(t, define(t, "k", func(k *tile.Builder, a args) {
			span := k.Block().Striped(256, 1)
			f(k, a, tile.Load(k, a.X, span), tile.Load(k, a.Y, span))
		})))
	}
	for _, c := range []struct {
		name string
		fma  int
		text string
	}{
		{"x*y + x", 1, fused(func(k *tile.Builder, a args, x, y tile.Reg[tile.F32]) { tile.Store(k, a.Y, x.Mul(y).Add(x)) })},
		{"x + x*y", 1, fused(func(k *tile.Builder, a args, x, y tile.Reg[tile.F32]) { tile.Store(k, a.Y, x.Add(x.Mul(y))) })},
		{"x*y - x", 1, fused(func(k *tile.Builder, a args, x, y tile.Reg[tile.F32]) { tile.Store(k, a.Y, x.Mul(y).Sub(x)) })},
		{"x - x*y", 1, fused(func(k *tile.Builder, a args, x, y tile.Reg[tile.F32]) { tile.Store(k, a.Y, x.Sub(x.Mul(y))) })},
		{"sum of x*y", 1, fused(func(k *tile.Builder, a args, x, y tile.Reg[tile.F32]) { tile.Store(k, a.Y.At(0), x.Mul(y).Sum()) })},
		{"x*y in bf16, + x", 0, fused(func(k *tile.Builder, a args, x, y tile.Reg[tile.F32]) {
			h := tile.Cast[tile.BF16](x)
			tile.Store(k, a.H, h.Mul(h).Add(h))
		})},
		{"x*y, stored too", 0, fused(func(k *tile.Builder, a args, x, y tile.Reg[tile.F32]) {
			p := x.Mul(y)
			tile.Store(k, a.X, p)
			tile.Store(k, a.Y, p.Add(x))
		})},
	} {
		if n := strings.Count(c.text, "fma"); n != c.fma {
			t.Errorf("%s: %d fused multiply-adds, want %d\n%s", c.name, n, c.fma, c.text)
		}
	}
}

// Eight-byte fields come first: pointers, strides, wide scalars; then four-byte scalars and dimensions.
func TestArgumentLayout(t *testing.T) {
	type args struct {
		E tile.Scalar[tile.BF16]
		X tile.Global[tile.F32] `tile:"rows,3,n"`
		L tile.Scalar[tile.I64]
		Y tile.Global[tile.I64] `tile:"n strided"`
		F tile.Scalar[tile.F32]
	}
	low := lower(t, define(t, "k", func(k *tile.Builder, a args) { tile.Store(k, a.Y.At(0), a.L) }))
	var got []string
	for _, a := range low.Args {
		got = append(got, fmt.Sprintf("%s@%d", a.Name, a.Offset))
	}
	want := []string{"x@0", "y@8", "x_stride0@16", "x_stride1@24", "y_stride0@32", "l@40", "e@48", "f@52", "rows@56", "n@60"}
	if !slices.Equal(got, want) || low.ArgBytes != 64 {
		t.Errorf("%v in %d bytes, want %v in 64", got, low.ArgBytes, want)
	}
}

func TestDumpWritesEveryPass(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	t.Setenv("GOTILE_DUMP", dir)
	k := define(t, "carried", carried, tile.Threads(128))
	low := lower(t, k)
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	want := []string{"carried.sm_90a.0.tile.txt", "carried.sm_90a.1.legal.txt", "carried.sm_90a.2.args.txt", "carried.sm_90a.3.lower.txt", "carried.sm_90a.4.fma.txt", "carried.sm_90a.5.await.txt", "carried.sm_90a.6.sync.txt", "carried.sm_90a.7.shared.txt"}
	if !slices.Equal(names, want) {
		t.Fatalf("%v, want %v", names, want)
	}
	for name, text := range map[string]string{want[0]: ir.Print(k.IR()), want[7]: thr.Print(low)} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s is not the IR at that point (%v):\n%s", name, err, got)
		}
	}
	t.Setenv("GOTILE_DUMP", filepath.Join(dir, want[0], "below-a-file"))
	if _, err := k.Lower("sm_90a"); err == nil || !strings.Contains(err.Error(), "GOTILE_DUMP") {
		t.Errorf("a directory that cannot be made: %v", err)
	}
}

func TestErrors(t *testing.T) {
	big := func(k *tile.Builder, a intArgs) {
		s, u := tile.NewShared[tile.I32](k, 32, 1024), tile.NewShared[tile.I32](k, 8)
		tile.Store(k, s.At(0, 0), tile.I32(1))
		tile.Store(k, u.At(0), tile.I32(1))
	}
	for _, c := range []struct {
		what   string
		k      *tile.Kernel
		target string
		want   []string // parts of the message; none: no error
	}{
		{"too much shared memory", define(t, "big", big), "sm_120a", []string{"big for sm_120a", "131104 bytes", "sm_120a has 101376", "plan_test.go:", "s0 (tile [32 1024]) has 131072", "s1 (tile [8]) has 32"}},
		{"as much on a larger chip", define(t, "big", big), "sm_90a", nil},
		{"a target that is not claimed", define(t, "k", carried, tile.Targets("sm_80")), "sm_90a", []string{"claims sm_80 only", `add "sm_90a" to tile.Targets`}},
		{"a claimed target", define(t, "k", carried, tile.Targets("sm_80")), "sm_80", nil},
		{"the proxy of a claimed target", define(t, "k", carried, tile.Targets("sm_120a")), "sm_90a-as-120", nil},
		{"shared memory at two scopes", define(t, "k", func(k *tile.Builder, a intArgs) {
			s := tile.NewShared[tile.I32](k, 32)
			tile.Store(k, s, tile.Full(k, k.Block().Striped(32, 1), tile.I32(1)))
			tile.Store(k.Warp(), a.Y, tile.Load(k.Warp(), s, k.Warp().Striped(32, 1)))
		}), "sm_90a", []string{"plan_test.go:", "s0 is used at warp scope here and at block scope at", "put a block.Sync() between"}},
		{"an axis of twelve threads", define(t, "k", func(k *tile.Builder, a intArgs) {
			x := tile.Load(k, a.X, k.Block().Striped2(12, 8, 1, 8))
			tile.Store(k, a.Y.At(0), x.Sum(0))
		}, tile.Threads(96)), "sm_90a", []string{"plan_test.go:", "powers of two"}},
	} {
		tg, err := target.Lookup(c.target)
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan.Lower(c.k.IR(), tg)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", c.what, err, w)
			}
		}
	}
}

// What a branch computes of an outer value is declared in its braces and computed again after them. (Random programs
// found a store after the branch that read the branch's registers.)
func TestStoredBroadcastEndsWithItsBranch(t *testing.T) {
	k := define(t, "k", func(k *tile.Builder, a rowArgs) {
		block := k.Block()
		span := block.Striped2(8, 64, 1, 32)
		x := tile.Expand(tile.Load(block, a.S, span.Axis(0)), span, 1)
		tile.If(block, a.X.Dim(0).GtInt(4), func() { tile.Store(block, a.Y, x) })
		tile.Store(block, a.Y.At(8), x)
	})
	if err := thr.Verify(lower(t, k)); err != nil {
		t.Error(err)
	}
}

type inPlaceArgs struct {
	X tile.Global[tile.F32] `tile:"rows,256"`
}

// A kernel that writes an argument and reads it back is ordered where other threads' elements are meant, and only
// there.
func TestGlobalBarriers(t *testing.T) {
	for _, c := range []struct {
		name string
		want int
		body func(k *tile.Builder, a inPlaceArgs)
	}{
		{"own elements", 0, func(k *tile.Builder, a inPlaceArgs) {
			span := k.Block().Striped(256, 4)
			x := tile.Load(k, a.X.At(0), span)
			tile.Store(k, a.X.At(0), x.Add(x))
			tile.Store(k, a.X.At(0), tile.Load(k, a.X.At(0), span).Neg())
		}},
		{"other threads' elements", 1, func(k *tile.Builder, a inPlaceArgs) {
			tile.Store(k, a.X.At(0), tile.Load(k, a.X.At(0), k.Block().Striped(256, 4)).Neg())
			tile.Store(k, a.X.At(0), tile.Load(k, a.X.At(0), k.Block().Striped(256, 2)).Abs())
		}},
		{"the leader's value", 1, func(k *tile.Builder, a inPlaceArgs) {
			tile.Store(k, a.X.At(0, 0), tile.F32(3))
			tile.Store(k, a.X.At(1), tile.Full(k, k.Block().Striped(256, 4), tile.LoadScalar(k, a.X.At(0, 0))))
		}},
		{"rows in a loop", 2, func(k *tile.Builder, a inPlaceArgs) {
			span := k.Block().Striped(256, 4)
			for row := range tile.Range(k, 0, a.X.Dim(0).SubInt(1), 1) {
				tile.Store(k, a.X.Row(row.AddInt(1)), tile.Load(k, a.X.Row(row), span))
			}
		}},
	} {
		k, err := tile.Define("in_place", c.body, tile.Threads(64))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		low, err := k.Lower("sm_90a")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := strings.Count(thr.Print(low), "block_sync()"); got != c.want {
			t.Errorf("%s: %d barriers, want %d:\n%s", c.name, got, c.want, thr.Print(low))
		}
	}
}
