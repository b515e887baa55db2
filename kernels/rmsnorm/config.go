// Package rmsnorm is RMSNorm, forward and backward.
//
//	y = x * rstd * w,  rstd = 1/sqrt(mean(x^2) + eps)
//
// With a residual the input is s = x + r, rounded to x's type, which is returned too. The gated form is
//
//	y = x * rstd * w * act(z),  act(z) = 1/(1 + e^-z) (sigmoid) or z/(1 + e^-z) (silu)
//
// Backward, with xh = x*rstd, g = dy*act(z) in the gated form and dy in the others:
//
//	dx = rstd*(w*g - xh*mean(w*g*xh)) (+ ds)
//	dw = sum over rows of g*xh
//	dz = dy*w*xh*act'(z)
//
// They follow from u = w*xh and y = u*act(z). The gradient of u is g = dy*act(z), that of act(z) is dy*u: hence dz, and
// dw = sum of g*xh. The gradient of xh is h = w*g, and as rstd depends on all of a row, d rstd/d x_j = -rstd^3*x_j/n,
//
//	dx_j = rstd*h_j + sum_i(h_i*x_i) * (-rstd^3*x_j/n) = rstd*(h_j - xh_j*mean(h*xh)).
//
// With s = 1/(1 + e^-z) the slopes are s' = s*(1 - s) and, of silu = z*s, s + z*s' = s + silu*(1 - s). Backward
// computes act(z) and act'(z) anew from z.
//
// Rows have any length. Short ones, of up to 8,192 or 16,384 elements, are held in a block's registers. Longer ones of
// up to 262,144 are held in the shared memory and registers of a block or of a cluster of blocks, as far as the target
// goes, where they are whole 16-byte vectors and w has x's type. All others are read in chunks, twice. x, r, y, z, s
// and their gradients have one type, bf16, f16 or f32; w is f32 or of x's type; everything is computed in f32.
package rmsnorm

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/tile"
)

// Config is one compiled kernel: the element types and the longest row it takes.
type Config struct {
	Name   string     // of the pass: rmsnorm_fwd
	Act    Activation // of the gated form
	X, W   dtype.Type // of x, y and their gradients; of w and dw
	Cap    int        // most elements in a row or, without X, rows; 0: no limit
	Whole  bool       // rows are whole 16-byte vectors
	Wide   bool       // rows are read in chunks of columns
	Per    int        // elements of a row, or of a chunk, that a thread holds
	Min    int        // least threads of a block: short rows are served several at a time; of chunks the threads
	Tight  bool       // registers are short: inputs are read as late as may be, and w again for each row
	Loop   bool       // forward: a block has a loop over its one row
	Again  bool       // forward: a row is read twice, the second time from the caches
	Uneven bool       // backward: blocks beyond those that are resident take the last rows in small shares
	Ring   bool       // backward: rows pass through a ring of slots in shared memory
	Stages int        // the slots of a ring

	Shared, Regs int      // of a staged row: chunks in shared memory, and in registers
	Resident     int      // blocks that an SM is to hold; 0: as comes
	Cluster      int      // blocks that share a staged row; 0: one
	Targets      []string // of a staged row; none: all
}

// KernelName is the name of the compiled kernel.
func (c Config) KernelName() string {
	name := c.Name
	if c.Act != 0 {
		name += "_" + c.Act.String()
	}
	switch {
	case c.X == dtype.Invalid && c.Cap == 0:
		return fmt.Sprintf("%s_%s", name, c.W)
	case c.X == dtype.Invalid:
		return fmt.Sprintf("%s_%s_c%d", name, c.W, c.Cap)
	case c.Wide:
		return fmt.Sprintf("%s_%s_%s_wide", name, c.X, c.W)
	}
	name = fmt.Sprintf("%s_%s_%s_c%d", name, c.X, c.W, c.Cap)
	if c.Whole {
		name += "_v"
	}
	if c.Cluster > 1 {
		name += fmt.Sprintf("_x%d", c.Cluster)
	}
	if c.Ring {
		name += "_ring"
	}
	return name
}

// capacities are the longest rows of the committed configs.
var capacities = []int{512, 1024, 2048, 4096, 8192, 16384, 32768}

// vec is the number of elements in 16 bytes.
func (c Config) vec() int { return 16 / c.X.Size() }

// across is how many threads share a row.
func (c Config) across() int { return c.Cap / c.Per }

// threads is the block's size.
func (c Config) threads() int {
	switch {
	case c.Ring: // and the warpgroup whose first warp moves rows
		return c.Min + 128
	case c.Wide || c.Again || c.Shared > 0:
		return c.Min
	}
	return max(c.Min, c.across())
}

// chunk is how many columns of a wide row a block holds at a time.
func (c Config) chunk() int { return c.Per * c.Min }

// rows is how many rows a block serves at a time.
func (c Config) rows() int { return c.threads() / c.across() }

// step is how many rows a block, or a cluster, serves at a time.
func (c Config) step() int {
	if c.Ring || c.Shared > 0 {
		return 1
	}
	return c.rows()
}

// each are the options of the loop of a forward pass, which has a block for each of its iterations.
func (c Config) each(opts ...tile.LoopOption) []tile.LoopOption {
	opts = append(opts, tile.OneBlockEach())
	if c.Loop {
		opts = append(opts, tile.Looped())
	}
	return opts
}

// span is the distribution of the rows that a block works on.
func (c Config) span(block tile.Block) tile.Span {
	return block.Striped2(c.rows(), c.Cap, c.vec(), c.across())
}

// anyCaps are the longest rows of configs for rows that are not of whole vectors; longer ones are wide.
var anyCaps = []int{512, 2048}

// configs are the committed configs of one pass: for all types the capacities, ascending, so that a launch finds the
// smallest that serves, and before one that takes any row the one for whole vectors, which has more registers left. fit
// fills in how a block works on rows; one that gives a thread no elements is left out. docs/performance.md says what
// was measured.
func configs(name string, act Activation, fit func(*Config)) []Config {
	var out []Config
	for _, t := range pairs {
		for _, n := range capacities {
			c := Config{Name: name, Act: act, X: t.x, W: t.w, Cap: n, Whole: true}
			if fit(&c); c.Per == 0 {
				continue
			}
			out = append(out, c)
			if slices.Contains(anyCaps, n) {
				c = Config{Name: name, Act: act, X: t.x, W: t.w, Cap: n}
				fit(&c)
				out = append(out, c)
			}
		}
	}
	return out
}

// wides are the configs of one pass for rows of any length.
func wides(name string, act Activation, fit func(*Config)) []Config {
	var out []Config
	for _, t := range pairs {
		c := Config{Name: name, Act: act, X: t.x, W: t.w, Wide: true}
		fit(&c)
		out = append(out, c)
	}
	return out
}

// forwardConfigs and backwardConfigs are the configs of a pass whose blocks hold a row, those of staged rows and,
// forward, those of rows of any length: in the order in which a launch looks for one.
func forwardConfigs(name string, act Activation, fit func(*Config)) []Config {
	held := map[string]staging{
		"rmsnorm_fwd": stagingForward, "rmsnorm_add_fwd": stagingForwardAdd, "rmsnorm_gated_fwd": stagingGatedForward}[name]
	return slices.Concat(configs(name, act, fit), held.configs(name, act), wides(name, act, fitWide))
}

func backwardConfigs(name string, act Activation, fit func(*Config)) []Config {
	held := stagingBackward
	if act != 0 {
		held = stagingGatedBackward
	}
	all := slices.Concat(configs(name, act, fit), held.configs(name, act))
	for _, r := range rings(name, act) { // in place of those that hold as much on the same targets, before those on others
		same := func(c Config) bool { return c.X == r.X && c.W == r.W && c.Cap >= r.Cap }
		at := slices.IndexFunc(all, same)
		all = slices.Insert(slices.DeleteFunc(all, func(c Config) bool {
			return same(c) && c.Cap == r.Cap && slices.Equal(c.Targets, r.Targets)
		}), at, r)
		for i, c := range all {
			if same(c) && c.Cap == r.Cap && !c.Ring && c.Whole {
				all[i].Targets = target.Select(func(t *target.Target) bool {
					return !slices.Contains(r.Targets, t.Name) && (len(c.Targets) == 0 || slices.Contains(c.Targets, t.Name))
				})
			}
		}
	}
	return all
}

func plainBackward() []Config { return backwardConfigs("rmsnorm_bwd", 0, fitBackward) }

func addBackward() []Config { return backwardConfigs("rmsnorm_add_bwd", 0, fitBackwardAdd) }

func gateBackward(act Activation) []Config {
	return backwardConfigs("rmsnorm_gated_bwd", act, fitGatedBackward)
}

// smallCap and smallWork say which backward passes are one launch: those with at most so many columns and elements.
// More elements hide the second launch, and the last block's work shows.
const (
	smallCap  = 1024
	smallWork = 1 << 22
)

// short are the configs of rows of up to smallCap elements in whole vectors.
func short(all []Config) []Config {
	return slices.DeleteFunc(all, func(c Config) bool { return c.Cap > smallCap || !c.Whole })
}

// fitForward gives a thread 16 bytes of the shortest rows and 32 of longer ones, in small blocks, which start and end
// independently of one another. From 8 KB on a row is read twice, in registers so few that a multiprocessor is full of
// threads, whose rows fit its L1 cache. The straight line is faster for short rows only, as measured.
func fitForward(c *Config) {
	row := c.Cap * c.X.Size()
	c.Per, c.Min, c.Loop = 32/c.X.Size(), 128, row > 4<<10
	switch {
	case c.Cap == 512:
		c.Per = 16 / c.X.Size()
	case row > 64<<10:
		c.Per = 0
	case row >= 8<<10 && c.Whole:
		c.Again, c.Per = true, 16/c.X.Size()
		c.Min = map[int]int{8 << 10: 256, 16 << 10: 512, 32 << 10: 512, 64 << 10: 1024}[row]
		c.Resident = 2048 / c.Min
	}
}

// fitForwardAdd is fitForward with the registers that a second input takes; measured without a loop only.
func fitForwardAdd(c *Config) {
	fitShares(c, 16<<10)
	fitLate(c)
}

// fitGatedForward is the same with z as the second input.
func fitGatedForward(c *Config) {
	fitShares(c, 8<<10)
	fitLate(c)
}

// fitShares gives a thread 32 bytes of a row of up to so many bytes, and 64 of a longer one.
func fitShares(c *Config, row int) {
	bytes := 32
	if c.Cap*c.X.Size() > row {
		bytes = 64
	}
	c.Per, c.Min = bytes/c.X.Size(), 128
	if c.threads() == 512 {
		c.Resident = 2
	}
	if c.Cap*c.X.Size() > 32<<10 {
		c.Per = 0
	}
}

// fitLate has w read when the sum is known, in registers that the inputs leave, where there are two of them and a block
// is large. Where w is wider than they are it takes more than that: a thread then holds half as much of a row.
func fitLate(c *Config) {
	if c.Per == 0 || c.threads() != 512 {
		return
	}
	c.Tight = true
	if c.W.Size() > c.X.Size() {
		c.Per, c.Resident = c.Per/2, 0
	}
}

// fitBackward leaves registers for two inputs, w, and the sums of dw in f32. A block of 512 threads and several rows
// has few shares of dw to write; with w in f32 it would have too many registers a thread. Where rows are short blocks of
// half as many threads wait less for one another.
func fitBackward(c *Config) {
	c.Per, c.Min = 32/c.X.Size(), 512
	if c.Cap <= 512 || c.Cap == smallCap && !c.X.Is16() {
		c.Min = 256
	}
	if !c.X.Is16() && c.Whole && c.Cap > 512 && c.Cap < 8192 { // measured: 16-bit types, which compute more for each byte, gain nothing
		c.spread()
	}
	if c.W.Size() > c.X.Size() {
		c.Min, c.Tight = 128, c.Cap == 16384
	}
	switch {
	case c.Cap < 16384:
	case !c.X.Is16() || c.Cap > 16384: // staged, or wide
		c.Per = 0
	default: // measured: the form for whole vectors, in fewer registers, takes 261 us where this one takes 218
		c.Whole = false
	}
}

// spread has blocks take uneven shares, in as few registers as even ones take.
func (c *Config) spread() {
	c.Uneven = true
	if c.threads() <= 512 {
		c.Resident = 1024 / c.threads()
	}
}

// fitBackwardAdd leaves registers for a third input. At 8,192 columns two blocks of 512 threads are resident; with w in
// f32 it is one of 1024, of which each has half as many elements. At 16,384 there are no registers, but where all is
// 16-bit: other kernels serve.
func fitBackwardAdd(c *Config) {
	c.Per, c.Min = 32/c.X.Size(), 128
	if !c.X.Is16() && c.Whole && c.Cap > 1024 && c.Cap < 8192 {
		c.spread()
	}
	switch {
	case c.Cap == 8192 && c.W.Size() > c.X.Size():
		c.Per /= 2
	case c.Cap == 8192 && c.threads() == 512:
		c.Resident = 2
	case c.Cap > 16384:
		c.Per = 0
	case c.Cap == 16384:
		c.Per, c.Tight = 32, true
		if !c.W.Is16() {
			c.Per = 0
		}
	}
}

// fitOne leaves registers for a group's shares of dw, which the last block adds up.
func fitOne(c *Config) {
	fitBackward(c)
	if c.W.Size() == c.X.Size() {
		c.Min = 256
	}
	c.Tight, c.Uneven, c.Resident = false, false, 0
}

// fitGatedBackward leaves registers for three inputs, w, what is kept of them until the sum is known, and the sums of
// dw in f32: 16 bytes a thread, so that two blocks and more are resident. Rows of 32 KB are staged.
func fitGatedBackward(c *Config) {
	c.Per, c.Min = 16/c.X.Size(), 256
	if c.Cap*c.X.Size() > 16<<10 {
		c.Per = 0
	}
}

// fitWide has few rows under way at once, so that their second reading finds them in the L2 cache.
func fitWide(c *Config) { c.Per, c.Min = 32/c.X.Size(), 1024 }

// fitMean leaves registers for three inputs, w, and the sums of a row.
func fitMean(c *Config) { c.Per, c.Min = 32/c.X.Size(), 512 }

// stripeBytes is how much of a row a block of a wide backward pass holds.
const stripeBytes = 32 * stripeThreads

const stripeThreads = 256

// fitStripes leaves registers for all inputs, w, and the sums of dw in f32.
func fitStripes(c *Config) { c.Per, c.Min = stripeBytes/stripeThreads/c.X.Size(), stripeThreads }

// weights are the configs of the kernel that sums the partial gradients of w: of few, of more, and of any number.
func weights() []Config {
	var out []Config
	for _, w := range []dtype.Type{dtype.BF16, dtype.F16, dtype.F32} {
		for _, most := range []int{fewestCap, fewCap, 0} {
			out = append(out, Config{Name: "rmsnorm_dw", W: w, Cap: most})
		}
	}
	return out
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	return tile.Sets(
		tile.Configs(build(builder.forward), forwardConfigs("rmsnorm_fwd", 0, fitForward)...),
		tile.Configs(build(builder.forwardAdd), forwardConfigs("rmsnorm_add_fwd", 0, fitForwardAdd)...),
		tile.Configs(build(builder.gatedForward), forwardConfigs("rmsnorm_gated_fwd", Silu, fitGatedForward)...),
		tile.Configs(build(builder.gatedForward), forwardConfigs("rmsnorm_gated_fwd", Sigmoid, fitGatedForward)...),

		tile.Configs(build(builder.backward), plainBackward()...),
		tile.Configs(build(builder.backwardAdd), addBackward()...),
		tile.Configs(build(builder.gatedBackward), gateBackward(Silu)...),
		tile.Configs(build(builder.gatedBackward), gateBackward(Sigmoid)...),

		tile.Configs(build(builder.one), short(configs("rmsnorm_bwd_one", 0, fitOne))...),
		tile.Configs(build(builder.oneAdd), short(configs("rmsnorm_add_bwd_one", 0, fitOne))...),
		tile.Configs(build(builder.one), short(configs("rmsnorm_gated_bwd_one", Silu, fitOne))...),
		tile.Configs(build(builder.one), short(configs("rmsnorm_gated_bwd_one", Sigmoid, fitOne))...),

		tile.Configs(build(builder.mean), wides("rmsnorm_mean", 0, fitMean)...),
		tile.Configs(build(builder.mean), wides("rmsnorm_gated_mean", Silu, fitMean)...),
		tile.Configs(build(builder.mean), wides("rmsnorm_gated_mean", Sigmoid, fitMean)...),

		tile.Configs(build(builder.wideBackward), wides("rmsnorm_bwd", 0, fitStripes)...),
		tile.Configs(build(builder.wideBackwardAdd), wides("rmsnorm_add_bwd", 0, fitStripes)...),
		tile.Configs(build(builder.wideBackward), wides("rmsnorm_gated_bwd", Silu, fitStripes)...),
		tile.Configs(build(builder.wideBackward), wides("rmsnorm_gated_bwd", Sigmoid, fitStripes)...),

		tile.Configs(buildWeight, weights()...),
	)
}

// options are a config's.
func (c Config) options(doc string) []tile.Option {
	opts := []tile.Option{tile.Threads(c.threads()), tile.Doc(doc)}
	if c.Whole {
		opts = append(opts, tile.WholeVectors())
	}
	if c.Resident > 0 {
		opts = append(opts, tile.MinBlocks(c.Resident))
	}
	if len(c.Targets) > 0 {
		opts = append(opts, tile.Targets(c.Targets...))
	}
	if c.Cluster > 1 {
		opts = append(opts, tile.ClusterSize(c.Cluster))
	}
	return opts
}
