package rmsnorm

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// builder builds the kernels of one pair of types.
type builder interface {
	forward(Config) (*tile.Kernel, error)
	forwardAdd(Config) (*tile.Kernel, error)
	gatedForward(Config) (*tile.Kernel, error)
	backward(Config) (*tile.Kernel, error)
	backwardAdd(Config) (*tile.Kernel, error)
	gatedBackward(Config) (*tile.Kernel, error)
	one(Config) (*tile.Kernel, error)
	oneAdd(Config) (*tile.Kernel, error)
	mean(Config) (*tile.Kernel, error)
	wideBackward(Config) (*tile.Kernel, error)
	wideBackwardAdd(Config) (*tile.Kernel, error)
}

// pairs are the types of x and w, in the order of the committed configs.
var pairs = []struct {
	x, w dtype.Type
	builder
}{
	{dtype.BF16, dtype.BF16, types[tile.BF16, tile.BF16]{}},
	{dtype.BF16, dtype.F32, types[tile.BF16, tile.F32]{}},
	{dtype.F16, dtype.F16, types[tile.F16, tile.F16]{}},
	{dtype.F16, dtype.F32, types[tile.F16, tile.F32]{}},
	{dtype.F32, dtype.F32, types[tile.F32, tile.F32]{}},
}

// build is the function that builds the kernels of one pass.
func build(pass func(builder, Config) (*tile.Kernel, error)) func(Config) (*tile.Kernel, error) {
	return func(c Config) (*tile.Kernel, error) {
		for _, p := range pairs {
			if p.x == c.X && p.w == c.W {
				return pass(p.builder, c)
			}
		}
		return nil, fmt.Errorf("rmsnorm: no kernel for x %s and w %s: x is bf16, f16 or f32, w is f32 or of x's type",
			c.X, c.W)
	}
}

// overlap is the first thing that a kernel of short rows does, or one of the launches of a backward pass: it may begin
// before the kernel ahead of it is over. Nothing is read or written before the wait. The result is the last thing that it
// does, which lets the next one begin. Measured: forward lets it begin at once; a ring has to, as its warps' registers
// differ later. In other kernels the next one's blocks would be in the way.
func (c Config) overlap(k *tile.Builder) (last func()) {
	short := c.Cap <= smallCap || strings.Contains(c.Name, "bwd")
	if !short || c.Wide || c.Shared > 0 {
		return func() {}
	}
	k.WaitPrerequisites()
	if c.Name == "rmsnorm_fwd" || c.Ring {
		k.LaunchDependents()
		return func() {}
	}
	return k.LaunchDependents
}

// types is the builder for T, the type of x, and W.
type types[T, W tile.Float] struct{}

func (types[T, W]) forward(c Config) (*tile.Kernel, error) {
	switch {
	case c.Shared > 0:
		return stagedForward[T, W](c)
	case c.Again:
		return forwardAgain[T, W](c)
	case c.Wide:
		return wideForward[T, W](c)
	}
	return forward[T, W](c)
}

func (types[T, W]) forwardAdd(c Config) (*tile.Kernel, error) {
	switch {
	case c.Shared > 0:
		return stagedForwardAdd[T, W](c)
	case c.Wide:
		return wideForwardAdd[T, W](c)
	}
	return forwardAdd[T, W](c)
}

func (types[T, W]) gatedForward(c Config) (*tile.Kernel, error) { return gatedForward[T, W](c) }

func (types[T, W]) backward(c Config) (*tile.Kernel, error) {
	if c.Shared > 0 || c.Ring {
		return stagedBackward[T, W](c)
	}
	return backward[T, W](c)
}

func (types[T, W]) backwardAdd(c Config) (*tile.Kernel, error) {
	if c.Shared > 0 || c.Ring {
		return stagedBackwardAdd[T, W](c)
	}
	return backwardAdd[T, W](c)
}

func (types[T, W]) gatedBackward(c Config) (*tile.Kernel, error) { return gatedBackward[T, W](c) }

func (types[T, W]) one(c Config) (*tile.Kernel, error) {
	if c.Act != 0 {
		return gatedOne[T, W](c)
	}
	return one[T, W](c)
}

func (types[T, W]) oneAdd(c Config) (*tile.Kernel, error) { return oneAdd[T, W](c) }

func (types[T, W]) mean(c Config) (*tile.Kernel, error) {
	if c.Act != 0 {
		return gatedMean[T, W](c)
	}
	return mean[T, W](c)
}

func (types[T, W]) wideBackward(c Config) (*tile.Kernel, error) {
	if c.Act != 0 {
		return gatedWideBackward[T, W](c)
	}
	return wideBackward[T, W](c)
}

func (types[T, W]) wideBackwardAdd(c Config) (*tile.Kernel, error) { return wideBackwardAdd[T, W](c) }
