package rmsnorm

import "github.com/gotile/gotile/tile"

// The backward pass in one launch: the last block of each group of blocks adds up the group's shares of dw, and the last
// group's the groups'. Which block is the last differs from run to run; what it adds up, and in which order, does not.
// For small problems, whose second launch takes as long as the first.

// groupSize is how many blocks are a group, and how many rows of shares a block reads at a time.
const groupSize = 16

// counters is the length of the argument Count: one a group, and the last of all for the groups.
const counters = 64

// mostParts is the most blocks: the last one of all adds up one group of groups.
const mostParts = groupSize * groupSize

// shares is what the last blocks work with.
type shares[W tile.Float] struct {
	part, group tile.Global[tile.F32]
	count       tile.Global[tile.U32]
	dw          tile.Global[W]
}

type oneArgs[T, W tile.Float] struct {
	X, DY, DX tile.Global[T]        `tile:"rows,n"`
	W         tile.Global[W]        `tile:"n"`
	Rstd      tile.Global[tile.F32] `tile:"rows"`
	Part      tile.Global[tile.F32] `tile:"parts,n"`  // scratch: each block's share of dw
	Group     tile.Global[tile.F32] `tile:"groups,n"` // scratch: each group's
	Count     tile.Global[tile.U32] `tile:"64"`       // blocks that are done in each group, and groups: 0 before and after
	DW        tile.Global[W]        `tile:"n"`
}

type oneAddArgs[T, W tile.Float] struct {
	S, DY, DS, DX tile.Global[T]        `tile:"rows,n"`
	W             tile.Global[W]        `tile:"n"`
	Rstd          tile.Global[tile.F32] `tile:"rows"`
	Part          tile.Global[tile.F32] `tile:"parts,n"`
	Group         tile.Global[tile.F32] `tile:"groups,n"`
	Count         tile.Global[tile.U32] `tile:"64"`
	DW            tile.Global[W]        `tile:"n"`
}

type gatedOneArgs[T, W tile.Float] struct {
	X, Z, DY, DX, DZ tile.Global[T]        `tile:"rows,n"`
	W                tile.Global[W]        `tile:"n"`
	Rstd             tile.Global[tile.F32] `tile:"rows"`
	Part             tile.Global[tile.F32] `tile:"parts,n"`
	Group            tile.Global[tile.F32] `tile:"groups,n"`
	Count            tile.Global[tile.U32] `tile:"64"`
	DW               tile.Global[W]        `tile:"n"`
}

type (
	oneSiluArgs[T, W tile.Float]    gatedOneArgs[T, W]
	oneSigmoidArgs[T, W tile.Float] gatedOneArgs[T, W]
)

// finish stores the block's share of dw, adds up those of its group if the block is the last of it, and writes dw if the
// group is the last of all.
func (a shares[W]) finish(k *tile.Builder, share tile.Reg[tile.F32]) {
	block, parts, groups := k.Block(), a.part.Dim(0), a.group.Dim(0)
	group := k.BlockID().DivInt(groupSize)
	first := group.Scale(groupSize)
	size := parts.Sub(first).MinInt(groupSize)
	root := counters - 1
	tile.Store(block, a.part.Row(k.BlockID()), share)
	tile.If(block, a.last(block, group, size), func() {
		tile.Store(block, a.count.At(group), tile.U32(0))
		for col := range tile.Range(block, 0, a.dw.Dim(0), groupCols(k)) {
			tile.Store(block, a.group.At(group, col), sumGroup(k, a.part, first, col))
		}
		tile.If(block, a.last(block, root, groups), func() {
			tile.Store(block, a.count.At(root), tile.U32(0))
			for col := range tile.Range(block, 0, a.dw.Dim(0), groupCols(k)) {
				tile.Store(block, a.dw.At(col), tile.Cast[W](sumGroup(k, a.group, 0, col)))
			}
		})
	})
}

// last counts the block and reports whether n are counted: all that they stored before is then seen.
func (a shares[W]) last(block tile.Block, counter any, n tile.Index) tile.Reg[tile.Bool] {
	ticket := tile.AtomicAdd(block, a.count.At(counter), tile.U32(1), tile.AcqRel)
	return tile.Cast[tile.I32](ticket).Eq(n.SubInt(1).Int())
}

// groupCols is how many columns of a group a block adds up at a time: 16 bytes a thread.
func groupCols(k *tile.Builder) int { return 4 * k.Threads() }

// sumGroup adds up the rows of a group from a row and a column on. A thread holds all rows of its columns, so that their
// loads are under way together.
func sumGroup[R tile.Int](k *tile.Builder, m tile.Global[tile.F32], row R, col tile.Index) tile.Reg[tile.F32] {
	span := k.Block().Striped2(groupSize, groupCols(k), 4, k.Threads())
	return tile.Load(k.Block(), m.At(row, col), span).Sum(0)
}

func one[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a oneArgs[T, W]) {
		defer c.overlap(k)()
		share := backwardRows(k, c, backwardArgs[T, W]{X: a.X, DY: a.DY, DX: a.DX, W: a.W, Rstd: a.Rstd, Part: a.Part})
		shares[W]{a.Part, a.Group, a.Count, a.DW}.finish(k, share)
	}, c.options("RMSNorm backward in one launch: dx and dw.")...)
}

func oneAdd[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a oneAddArgs[T, W]) {
		defer c.overlap(k)()
		share := backwardAddRows(k, c, backwardAddArgs[T, W]{S: a.S, DY: a.DY, DS: a.DS, DX: a.DX, W: a.W, Rstd: a.Rstd, Part: a.Part})
		shares[W]{a.Part, a.Group, a.Count, a.DW}.finish(k, share)
	}, c.options("RMSNorm backward of a sum in one launch: dx = dr and dw.")...)
}

func gatedOne[T, W tile.Float](c Config) (*tile.Kernel, error) {
	body := func(k *tile.Builder, a gatedOneArgs[T, W]) {
		defer c.overlap(k)()
		share := gatedBackwardRows(k, c, gatedBackwardArgs[T, W]{X: a.X, Z: a.Z, DY: a.DY, DX: a.DX, DZ: a.DZ, W: a.W, Rstd: a.Rstd, Part: a.Part})
		shares[W]{a.Part, a.Group, a.Count, a.DW}.finish(k, share)
	}
	opts := c.options("Gated RMSNorm backward, " + c.Act.String() + ", in one launch: dx, dz and dw.")
	if c.Act == Sigmoid {
		return tile.Define(c.KernelName(), func(k *tile.Builder, a oneSigmoidArgs[T, W]) { body(k, gatedOneArgs[T, W](a)) }, opts...)
	}
	return tile.Define(c.KernelName(), func(k *tile.Builder, a oneSiluArgs[T, W]) { body(k, gatedOneArgs[T, W](a)) }, opts...)
}
