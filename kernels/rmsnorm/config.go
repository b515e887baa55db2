// Package rmsnorm is RMSNorm, forward and backward, for rows of up to 16,384 elements.
//
//	y = x * rstd * w,  rstd = 1/sqrt(mean(x^2) + eps)
//
// With a residual the input is s = x + r, rounded to x's type, which is returned too. Backward, with xh = x*rstd:
//
//	dx = rstd*(w*dy - xh*mean(w*dy*xh)) (+ ds)
//	dw = sum over rows of dy*xh
//
// x is bf16, f16 or f32; w is f32 or of x's type; everything is computed in f32.
package rmsnorm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// Config is one compiled kernel: the element types and the longest row it takes.
type Config struct {
	Name string     // of the pass: rmsnorm_fwd
	X, W dtype.Type // of x, y and their gradients; of w and dw
	Cap  int        // most elements in a row
	Per  int        // elements of a row that a thread holds
	Min  int        // least threads of a block: short rows are served several at a time
}

// KernelName is the name of the compiled kernel.
func (c Config) KernelName() string {
	if c.Cap == 0 {
		return fmt.Sprintf("%s_%s", c.Name, c.W)
	}
	return fmt.Sprintf("%s_%s_%s_c%d", c.Name, c.X, c.W, c.Cap)
}

// capacities are the longest rows of the committed configs.
var capacities = []int{512, 1024, 2048, 4096, 8192, 16384}

// vec is the number of elements in 16 bytes.
func (c Config) vec() int { return 16 / c.X.Size() }

// across is how many threads share a row.
func (c Config) across() int { return c.Cap / c.Per }

// threads is the block's size.
func (c Config) threads() int { return max(c.Min, c.across()) }

// rows is how many rows a block serves at a time.
func (c Config) rows() int { return c.threads() / c.across() }

// span is the distribution of the rows that a block works on.
func (c Config) span(block tile.Block) tile.Span {
	return block.Striped2(c.rows(), c.Cap, c.vec(), c.across())
}

// configs are the committed configs of one pass: all types, capacities ascending, so that a launch finds the smallest
// that serves. fit fills in how a block works on rows; docs/performance.md says what was measured.
func configs(name string, fit func(*Config)) []Config {
	var out []Config
	for _, t := range []struct{ x, w dtype.Type }{
		{dtype.BF16, dtype.BF16}, {dtype.BF16, dtype.F32}, {dtype.F16, dtype.F16}, {dtype.F16, dtype.F32}, {dtype.F32, dtype.F32}} {
		for _, n := range capacities {
			c := Config{Name: name, X: t.x, W: t.w, Cap: n}
			fit(&c)
			out = append(out, c)
		}
	}
	return out
}

// fitForward gives a thread 64 bytes of a row: small blocks, which start and end independently of one another.
func fitForward(c *Config) { c.Per, c.Min = 64/c.X.Size(), 128 }

// fitBackward leaves registers for two inputs, w, and the sums of dw in f32. With 16-bit types a block of 512 threads
// and several rows has fewer shares of dw to write; very short and very long rows do better with more elements a
// thread.
func fitBackward(c *Config) {
	c.Per, c.Min = 16, 128
	if c.X.Is16() && c.W.Is16() {
		if c.Cap <= 1024 || c.Cap >= 16384 {
			c.Per = 32
		} else {
			c.Min = 512
		}
	}
}

// fitBackwardAdd leaves registers for a third input.
func fitBackwardAdd(c *Config) { c.Per, c.Min = 16, 128 }

// weights are the configs of the kernel that sums the partial gradients of w.
func weights() []Config {
	return []Config{{Name: "rmsnorm_dw", W: dtype.BF16}, {Name: "rmsnorm_dw", W: dtype.F16}, {Name: "rmsnorm_dw", W: dtype.F32}}
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	return tile.Sets(
		tile.Configs(buildForward, configs("rmsnorm_fwd", fitForward)...),
		tile.Configs(buildForwardAdd, configs("rmsnorm_add_fwd", fitForward)...),
		tile.Configs(buildBackward, configs("rmsnorm_bwd", fitBackward)...),
		tile.Configs(buildBackwardAdd, configs("rmsnorm_add_bwd", fitBackwardAdd)...),
		tile.Configs(buildWeight, weights()...),
	)
}

// instance builds a config with the instance of a generic kernel for its types; the first letter is x's type, the
// second w's: b bf16, h f16, f f32.
func instance(c Config, bb, bf, hh, hf, ff func(Config) (*tile.Kernel, error)) (*tile.Kernel, error) {
	type types struct{ x, w dtype.Type }
	build := map[types]func(Config) (*tile.Kernel, error){
		{dtype.BF16, dtype.BF16}: bb, {dtype.BF16, dtype.F32}: bf,
		{dtype.F16, dtype.F16}: hh, {dtype.F16, dtype.F32}: hf, {dtype.F32, dtype.F32}: ff,
	}[types{c.X, c.W}]
	if build == nil {
		return nil, fmt.Errorf("rmsnorm: no kernel for x %s and w %s: x is bf16, f16 or f32, w is f32 or of x's type", c.X, c.W)
	}
	return build(c)
}
