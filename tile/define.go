package tile

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gotile/gotile/internal/cname"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
)

// Kernel is a recorded kernel. It is immutable.
type Kernel struct {
	ir *ir.Kernel
}

// Name is the kernel's name, which is its entry point's name in C.
func (k *Kernel) Name() string { return k.ir.Name }

// IR is the recorded tile IR. Callers must not change it.
func (k *Kernel) IR() *ir.Kernel { return k.ir }

// Option is an option of Define.
type Option func(*ir.Builder)

// Threads sets the number of threads of a block: a multiple of 32, at most 1024. The default is 256.
func Threads(n int) Option { return func(b *ir.Builder) { b.Kernel.Threads = n } }

// ClusterSize makes the grid of clusters of n blocks, 2, 4 or 8, which run at the same time, meet at barriers and reach
// one another's shared memory: Builder.Cluster is their scope. Targets before sm_90 have none: a kernel with clusters
// names those that it is for,
//
//	tile.ClusterSize(4), tile.Targets("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a")
//
// and its family has another, without clusters, for the rest; a launch takes the first that the device can run.
func ClusterSize(n int) Option {
	return func(b *ir.Builder) {
		switch n {
		case 2, 4, ir.MaxCluster:
			b.Kernel.Cluster = n
		default:
			b.Reject(ErrLimit, "ClusterSize(%d): a cluster has 2, 4 or %d blocks; without the option the kernel has no clusters", n, ir.MaxCluster)
			b.Kernel.Cluster = 2 // for the mistakes in the body
		}
	}
}

// MinBlocks asks for registers so few that an SM holds n blocks (the second number of __launch_bounds__).
func MinBlocks(n int) Option { return func(b *ir.Builder) { b.Kernel.MinBlocks = n } }

// WholeVectors says that the kernel is for whole 16-byte vectors only: addresses, strides and lengths of what it accesses
// by vectors are multiples of them. It has no other form of these accesses, which saves registers; a launch with other
// tensors takes the next kernel of the family, or is refused.
func WholeVectors() Option { return func(b *ir.Builder) { b.Kernel.Whole = true } }

// Targets names the targets that the kernel is for, as `gotile check -h` lists them; the default is all. A launch on
// another target takes the next kernel of the family, or is refused with device.ErrTarget.
func Targets(names ...string) Option {
	return func(b *ir.Builder) { b.Kernel.Targets = append(b.Kernel.Targets, names...) }
}

// Doc sets the comment at the head of the generated code.
func Doc(text string) Option { return func(b *ir.Builder) { b.Kernel.Doc = text } }

// Limit sets the number of ops that the kernel may record, 20000 by default: more is most likely a Go loop that
// unrolls by accident.
func Limit(ops int) Option { return func(b *ir.Builder) { b.Limit = ops } }

const (
	defaultThreads = 256
	maxThreads     = 1024
)

// Define records a kernel. A is a struct of exported Global and Scalar fields; f is called once with its arguments
// bound and the builder.
//
// A Global field has a shape tag, which lists its dimensions, outermost first, with commas between; a Scalar has none:
//
//	type args struct {
//		X   tile.Global[tile.BF16] `tile:"rows,n"`         // two run-time dimensions
//		W   tile.Global[tile.F32]  `tile:"n"`              // as long as a row of X: equal symbols are one value
//		T   tile.Global[tile.F32]  `tile:"rows,128"`       // a constant size, known while building
//		V   tile.Global[tile.F32]  `tile:"rows,n strided"` // the last stride is run-time too; without strided it is 1
//		Eps tile.Scalar[tile.F32]
//	}
//
// A dimension is a constant size of at least 1 or a symbol: a letter, then letters, digits and underscores, no keyword
// of C++ and not "strided". Symbols are names in the generated C, so none may be equal to a field's name there (its first
// capitals become small: X is x). A launch refuses tensors whose sizes differ from the constants or from one another
// where a symbol is the same. Strides of the leading dimensions are always run-time. "strided" stands after a space or as
// the last item.
//
// The error is of type Errors: all mistakes with their positions. A panic of f becomes an
// error of rule ErrPanic, so that the mistakes before it, which may be its cause, are not lost.
func Define[A any](name string, f func(*Builder, A), opts ...Option) (*Kernel, error) {
	b := ir.NewBuilder(name)
	b.Kernel.Threads, b.Kernel.Pos = defaultThreads, ir.Here(0).Alone()
	b.Limit = ir.DefaultLimit
	for i, o := range opts {
		if o == nil {
			b.Reject(ErrPort, "option %d of Define is nil: drop it", i+1)
			continue
		}
		o(b)
	}
	var a A
	checkOptions(b)
	bindArgs(b, reflect.ValueOf(&a).Elem())
	if f == nil {
		b.Reject(ErrPort, "the function of Define is nil: give one that records the kernel")
	} else {
		b.Run(func() { f(&Builder{b: b}, a) })
	}
	k, err := b.Finish()
	if err != nil {
		return nil, err
	}
	return &Kernel{k}, nil
}

// maxResident is the most threads that any multiprocessor holds.
const maxResident = 2048

func checkOptions(b *ir.Builder) {
	k := b.Kernel
	switch {
	case !cname.Identifier(k.Name):
		b.Reject(ErrPort, "kernel name %q is no C identifier; use letters, digits and underscores", k.Name)
	case cname.Keyword(k.Name):
		b.Reject(ErrPort, "kernel name %q is a keyword of C++ or a type of the generated code; use another", k.Name)
	case !cname.Entry(k.Name):
		b.Reject(ErrPort, "kernel name %q is taken by CUDA, C or the generated code; use another", k.Name)
	}
	if strings.ContainsRune(k.Doc, 0) {
		b.Reject(ErrPort, "the text of Doc has a zero byte, which ends a C source; drop it")
	}
	if k.MinBlocks > 0 && k.MinBlocks*k.Threads > maxResident {
		b.Reject(ErrLimit, "MinBlocks(%d) of %d threads: a multiprocessor holds at most %d threads; use %d blocks", k.MinBlocks, k.Threads, maxResident, max(1, maxResident/max(1, k.Threads)))
	}
	if k.Threads < warpSize || k.Threads > maxThreads || k.Threads%warpSize != 0 {
		b.Reject(ErrLimit, "Threads(%d): a block has a multiple of %d threads, at most %d; use %d", k.Threads, warpSize, maxThreads, min(max(1, (k.Threads+warpSize-1)/warpSize)*warpSize, maxThreads))
		k.Threads = defaultThreads // for the mistakes in the body
	}
	if b.Limit < 1 {
		b.Reject(ErrLimit, "Limit(%d): a kernel records at least 1 op; without tile.Limit it may record %d", b.Limit, ir.DefaultLimit)
		b.Limit = ir.DefaultLimit // for the mistakes in the body
	}
	if k.MinBlocks < 0 || k.MinBlocks > 32 {
		b.Reject(ErrLimit, "MinBlocks(%d): an SM holds 1 to 32 blocks; use one of these numbers", k.MinBlocks)
	}
	for _, n := range k.Targets {
		if _, err := target.Lookup(n); err != nil {
			b.Reject(ErrTarget, "Targets: %v", err)
		}
	}
}

// String is the tile IR as text.
func (k *Kernel) String() string { return fmt.Sprint(k.ir) }
