package device

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// scaleArgs is the argument struct of the test kernel: y[i] = a*x[i] for i < n, one element a thread.
type scaleArgs struct {
	x, y uint64
	a    float32
	n    int32
}

const scaleSource = `
struct scale_args { const float *x; float *y; float a; int n; };
extern "C" __global__ void scale(const __grid_constant__ scale_args p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.y[i] = p.a * p.x[i];
}
`

const scaleThreads = 64

// scaleClustered is the source with clusters of n blocks.
func scaleClustered(n int) string {
	return strings.Replace(scaleSource, "__global__ void", fmt.Sprintf("__global__ void __cluster_dims__(%d, 1, 1)", n), 1)
}

// scaleKernel makes the kernel afresh; a *Kernel is the identity that Load remembers.
func scaleKernel() *Kernel {
	return &Kernel{Name: "scale", Source: scaleSource, Threads: scaleThreads, ArgBytes: int(unsafe.Sizeof(scaleArgs{})),
		Build: func() (Program, error) { return scaleProgram{}, nil }}
}

// scaleProgram lowers the kernel by hand.
type scaleProgram struct{ cluster int }

func (p scaleProgram) Lower(target string) (*thr.Kernel, error) {
	x := &thr.Arg{Name: "x", Kind: thr.ArgPointer, Type: thr.Type{DT: dtype.F32, Ptr: true, Const: true}}
	y := &thr.Arg{Name: "y", Kind: thr.ArgPointer, Type: thr.Type{DT: dtype.F32, Ptr: true}, Offset: 8}
	a := &thr.Arg{Name: "a", Kind: thr.ArgScalar, Type: thr.Val(dtype.F32), Offset: 16}
	n := &thr.Arg{Name: "n", Kind: thr.ArgDim, Type: thr.Val(dtype.I32), Offset: 20}
	i, v := &thr.Local{Name: "i", Type: thr.Val(dtype.I32)}, &thr.Local{Name: "v", Type: thr.Val(dtype.F32)}
	at := thr.At{Pos: ir.Here(0)}
	i32 := func(op ir.Op, args ...thr.Expr) thr.Expr {
		return thr.Apply{Op: op, T: dtype.I32, R: dtype.I32, Args: args}
	}
	first := i32(ir.Mul, thr.Call{Fn: thr.BlockX, R: dtype.I32}, thr.Const{DT: dtype.I32, Bits: scaleThreads})
	in := thr.Apply{Op: ir.Lt, T: dtype.I32, R: dtype.Bool, Args: []thr.Expr{thr.Ref{Local: i}, thr.ArgRef{Arg: n}}}
	element := func(p *thr.Arg) thr.Expr {
		wide := thr.Apply{Op: ir.Cast, T: dtype.I32, R: dtype.I64, Args: []thr.Expr{thr.Ref{Local: i}}}
		return thr.PtrAdd{Base: thr.ArgRef{Arg: p}, Index: wide}
	}
	scaled := thr.Apply{Op: ir.Mul, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{thr.ArgRef{Arg: a}, thr.Ref{Local: v}}}
	return &thr.Kernel{
		Name: "scale", IR: &ir.Kernel{Name: "scale"}, Target: target, Threads: scaleThreads, Cluster: p.cluster, Args: []*thr.Arg{x, y, a, n}, ArgBytes: 24,
		Body: []thr.Stmt{
			thr.Decl{At: at, Local: i, Init: i32(ir.Add, first, thr.Call{Fn: thr.TID, R: dtype.I32})},
			thr.Decl{At: at, Local: v},
			thr.Load{At: at, Space: thr.Global, Dst: v, Bytes: 4, Addr: element(x), Pred: in},
			thr.Store{At: at, Space: thr.Global, Value: scaled, Bytes: 4, Addr: element(y), Pred: in},
		},
	}, nil
}

// newFake is a driver whose modules hold the test kernel.
func newFake(devices ...fake.Device) *fake.Driver {
	var drv *fake.Driver
	scale := func(c driver.LaunchConfig, args unsafe.Pointer) driver.Result {
		a := (*scaleArgs)(args)
		x, y := drv.Bytes(driver.Ptr(a.x), 4*int(a.n)), drv.Bytes(driver.Ptr(a.y), 4*int(a.n))
		if (x == nil || y == nil) && a.n > 0 {
			return driver.IllegalAddress
		}
		for i := range min(int(a.n), int(c.Grid[0]*c.Block[0])) {
			*(*float32)(unsafe.Pointer(&y[4*i])) = a.a * *(*float32)(unsafe.Pointer(&x[4*i]))
		}
		return driver.Success
	}
	drv = fake.New(map[string]fake.Kernel{"scale": scale}, devices...)
	drv.ArgBytes("scale", int(unsafe.Sizeof(scaleArgs{})))
	return drv
}

// fakeCompiler counts compilations; what it makes depends on source and architecture.
type fakeCompiler struct {
	compiled atomic.Int64
	arch     atomic.Value
	err      error
	suffix   string // of the version
	extra    string // options
}

func (c *fakeCompiler) version() string { return "13.0" + c.suffix }
func (c *fakeCompiler) options() string { return "--fmad=false" + c.extra }
func (c *fakeCompiler) compile(k *Kernel, arch string) ([]byte, error) {
	c.compiled.Add(1)
	c.arch.Store(arch)
	return []byte("\x7fELF " + arch + k.Source), c.err
}

func (c *fakeCompiler) withLines() compiler { return linedCompiler{c} }

// linedCompiler is one that was asked for lines.
type linedCompiler struct{ *fakeCompiler }

func (c linedCompiler) options() string { return c.fakeCompiler.options() + " --generate-line-info" }

// withFake is the option that puts a fake driver and compiler in.
func withFake(drv *fake.Driver, comp *fakeCompiler) Option {
	return func(c *config) {
		c.driver = func() (driver.Driver, error) { return drv, nil }
		c.nvrtc = func() (compiler, error) { return comp, nil }
	}
}

// openFake opens cuda:0 of a fake driver, with a cache of its own.
func openFake(t *testing.T, drv *fake.Driver, opts ...Option) *Device {
	t.Helper()
	t.Setenv(env.Cache, t.TempDir())
	return opened(t, "cuda:0", append([]Option{withFake(drv, &fakeCompiler{})}, opts...)...)
}

// opened opens a device for the length of a test.
func opened(t *testing.T, name string, opts ...Option) *Device {
	t.Helper()
	d := must(Open(name, opts...))
	t.Cleanup(func() { ok(t, d.Close()) })
	return d
}

// each runs a test on every device: the simulator, a GPU of a fake driver, and the GPU of this machine.
func each(t *testing.T, test func(t *testing.T, d *Device)) {
	t.Run("sim", func(t *testing.T) { test(t, opened(t, "sim")) })
	t.Run("fake", func(t *testing.T) { test(t, openFake(t, newFake(fake.H200))) })
	t.Run("cuda", func(t *testing.T) { test(t, gpu(t)) })
}

// gpu opens the first GPU of this machine, or skips.
func gpu(t testing.TB, opts ...Option) *Device {
	t.Helper()
	d, err := Open("cuda:0", opts...)
	if errors.Is(err, ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// must is for calls whose failure a test cannot go on from and does not expect.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// is demands an error that matches target and whose text has the words.
func is(t *testing.T, err, target error, words ...string) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error %v, want one that is %q", err, target)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q lacks %q", err, w)
		}
	}
}

var background = context.Background()
