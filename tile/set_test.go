package tile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gotile/gotile/tile"
)

// config is a configuration for the tests of sets.
type config struct {
	name  string
	built *int
	err   error
	as    string // the name it builds under, if another
	other bool   // with another Args type
	none  bool   // gives nothing
}

func (c config) KernelName() string { return c.name }

func (c config) build() (*tile.Kernel, error) {
	if c.built != nil {
		*c.built++
	}
	name := c.name
	if c.as != "" {
		name = c.as
	}
	switch {
	case c.err != nil || c.none:
		return nil, c.err
	case c.other:
		return tile.Define(name, func(*tile.Builder, clipArgs) {})
	}
	return tile.Define(name, func(*tile.Builder, wrongArgs) {})
}

func TestSet(t *testing.T) {
	var n int
	failure := errors.New("no such size")
	s := tile.Sets(
		tile.Configs(config.build, config{name: "aa", built: &n}, config{name: "b"}),
		tile.Configs(config.build, config{name: "c", other: true}, config{name: "twice", other: true}),
		tile.Configs(config.build, config{name: "fails", err: failure}, config{name: "renamed", as: "z"}, config{name: "none", none: true}, config{name: "twice"}),
		tile.Configs(config.build, config{name: "first"}, config{name: "second", other: true}),
	)
	if got, want := s.Names(), []string{"aa", "b", "c", "twice", "fails", "renamed", "none", "twice", "first", "second"}; !slices.Equal(got, want) {
		t.Errorf("Names() = %v, want %v", got, want)
	}
	if got := len(s.Families()); got != 4 {
		t.Errorf("%d families, want 4", got)
	}
	if got, want := s.Families()[1].Names(), []string{"c", "twice"}; !slices.Equal(got, want) {
		t.Errorf("names of family 1: %v, want %v", got, want)
	}
	if n != 0 {
		t.Error("a kernel was built before anybody asked")
	}

	var wg sync.WaitGroup
	kernels := make([]*tile.Kernel, 8)
	for i := range kernels {
		wg.Go(func() { kernels[i], _ = s.Build("aa") })
	}
	wg.Wait()
	for _, k := range kernels {
		if k == nil || k != kernels[0] || k.Name() != "aa" {
			t.Fatalf("concurrent builds give %v", kernels)
		}
	}
	if n != 1 {
		t.Errorf("built %d times, want once", n)
	}
	if k, err := s.Families()[0].Build("aa"); err != nil || k != kernels[0] {
		t.Errorf("Family.Build gives %v, %v", k, err)
	}

	for name, want := range map[string]string{
		"q":       `tile: no kernel is named "q"; have [aa b c twice`,
		"twice":   "tile: two kernels are named twice",
		"renamed": "tile: the configuration named renamed builds a kernel named z",
		"none":    "neither a kernel nor an error",
	} {
		if _, err := s.Build(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Build(%q): %v, want ...%s...", name, err, want)
		}
	}
	if _, err := s.Build("fails"); !errors.Is(err, failure) {
		t.Errorf("Build(fails): %v", err)
	}
	if _, err := s.Build("first"); err != nil {
		t.Error(err)
	}
	if _, err := s.Build("second"); err == nil || !strings.Contains(err.Error(), "a family has one Args type") {
		t.Errorf("two Args types in a family: %v", err)
	}
}

func TestLower(t *testing.T) {
	k, err := forward[tile.F32]("fwd", 1024, 4)
	if err != nil {
		t.Fatal(err)
	}
	before := k.String()
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	if low.Name != "fwd" || low.Target != "sm_90a" || low.IR != k.IR() {
		t.Errorf("lowered to %s for %s", low.Name, low.Target)
	}
	if k.String() != before {
		t.Error("lowering changed the kernel")
	}
	if _, err := k.Lower("sm_1"); !errors.Is(err, tile.ErrTarget) {
		t.Errorf("an unknown target: %v", err)
	}
	k, err = tile.Define("narrow", func(*tile.Builder, wrongArgs) {}, tile.Targets("sm_120a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Lower("sm_80"); !errors.Is(err, tile.ErrTarget) || !strings.Contains(fmt.Sprint(err), "kernel narrow is not for sm_80") {
		t.Errorf("a target that the kernel does not claim: %v", err)
	}
	for _, ok := range []string{"sm_120a", "sm_90a-as-120"} {
		if _, err := k.Lower(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
}

// TestArgs checks what Define makes of the Args struct.
func TestArgs(t *testing.T) {
	type args[T tile.Float] struct {
		X       tile.Global[T]        `tile:"rows,n"`
		DWeight tile.Global[tile.F32] `tile:"n, 16 strided"`
		DX      tile.Global[T]        `tile:"rows,n,strided"`
		Int     tile.Scalar[tile.I64]
	}
	k, err := tile.Define("k", func(k *tile.Builder, a args[tile.F16]) {
		if a.X.Rank() != 2 || k.Threads() != 256 || k.Warps() != 8 {
			t.Error("rank or threads")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "kernel k(x f16[rows,n], dWeight f32[n,16] strided, dx f16[rows,n] strided, int_ i64) threads 256\n"
	if got := k.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := k.IR().ArgsType; got != "args" {
		t.Errorf("ArgsType = %q, want args", got)
	}
	if x := k.IR().Args; x[0].Dims[0].Symbol != x[2].Dims[0].Symbol {
		t.Error("equal symbols are two values")
	}
}

// TestSharedInLoop checks that a shared tile made in a loop body is one tile.
func TestSharedInLoop(t *testing.T) {
	k, err := tile.Define("k", func(k *tile.Builder, a wrongArgs) {
		for i := range tile.Range(k, 0, 4, 1) {
			for range tile.Range(k, 0, 4, 1) {
				s := tile.NewShared[tile.F32](k, 128)
				tile.Store(k, s.At(i), a.Eps)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(k.IR().Shared); n != 1 {
		t.Errorf("%d shared tiles, want 1", n)
	}
}

// TestConst checks host numbers of each type, to nearest even.
func TestConst(t *testing.T) {
	for _, c := range []struct{ got, want any }{
		{tile.Const[tile.F32](0.1), tile.F32(0.1)},
		{tile.Const[tile.I32](-7.9), tile.I32(-7)},
		{tile.Const[tile.U32](7), tile.U32(7)},
		{tile.Const[tile.I64](1 << 40), tile.I64(1 << 40)},
		{tile.Const[tile.BF16](1.00390625).(tile.BF16).Float(), 1.0}, // half way to 1.0078125: to even
		{tile.Const[tile.F16](2049).(tile.F16).Float(), 2048.0},
	} {
		if c.got != c.want {
			t.Errorf("got %v (%T), want %v", c.got, c.got, c.want)
		}
	}
}
