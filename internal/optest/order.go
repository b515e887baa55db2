package optest

import "github.com/gotile/gotile/tile"

// lastBlockArgs: the columns of X are added up by all blocks, and the last to finish adds what they have stored.
type lastBlockArgs struct {
	X     tile.Global[tile.F32] `tile:"rows,n"`
	Part  tile.Global[tile.F32] `tile:"blocks,n"` // scratch: a row of partial sums a block
	Count tile.Global[tile.U32] `tile:"1"`        // blocks that are done: 0 before the launch and after it
	Y     tile.Global[tile.F32] `tile:"n"`
}

// lastBlock is a reduction over the grid in one launch. Which block is the last differs from run to run, the order of
// the sum does not.
func lastBlock(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a lastBlockArgs) {
		block := k.Block()
		span := block.Striped(256, 4).Clip(a.X.Dim(1))
		tile.Store(block, a.Part.Row(k.BlockID()), blockRows(k, a.X, span, a.Part.Dim(0)))
		old := tile.AtomicAdd(block, a.Count, tile.U32(1), tile.AcqRel)
		tile.If(block, isLast(old, k.NumBlocks()), func() {
			tile.Store(block, a.Y, sumRows(block, a.Part, span, tile.Range(block, 0, a.Part.Dim(0), 1)))
			tile.Store(block, a.Count, tile.U32(0))
		})
	}, tile.Threads(128), tile.Doc("Column sums: the last block adds up the others' rows."))
}

// isLast reports whether a ticket is the last of n.
func isLast(ticket tile.Reg[tile.U32], n tile.Index) tile.Reg[tile.Bool] {
	return tile.Cast[tile.I32](ticket).Eq(n.SubInt(1).Int())
}

// blockRows is the sum of the rows of x that are the block's share of a grid of exactly blocks.
func blockRows(k *tile.Builder, x tile.Global[tile.F32], span tile.Span, blocks tile.Index) tile.Reg[tile.F32] {
	return sumRows(k.Block(), x, span, tile.Persistent(k, x.Dim(0), tile.Blocks(blocks)))
}

// sumRows is the sum of rows of x, in order.
func sumRows(block tile.Block, x tile.Global[tile.F32], span tile.Span, rows func(func(tile.Index) bool)) tile.Reg[tile.F32] {
	sum := tile.NewVar(block, tile.Full(block, span, tile.F32(0)))
	for row := range rows {
		sum.Set(sum.Get().Add(tile.Load(block, x.Row(row), span)))
	}
	return sum.Get()
}

func lastBlockKernels() tile.Set { return family(kernel{"op_last_block", lastBlock}) }

// treeArgs: lastBlockArgs in two steps, for grids in which one block would read too many rows: the last block of a
// group adds up the group, and the last group's adds up the groups.
type treeArgs struct {
	X     tile.Global[tile.F32] `tile:"rows,n"`
	Part  tile.Global[tile.F32] `tile:"blocks,n"`
	Group tile.Global[tile.F32] `tile:"groups,n"` // scratch: a row a group
	Done  tile.Global[tile.U32] `tile:"groups"`   // blocks of each group that are done; 0 before and after, as Count
	Count tile.Global[tile.U32] `tile:"1"`        // groups that are done
	Size  tile.Scalar[tile.I32] // blocks of a group, the last may have less: about the root of their number
	Y     tile.Global[tile.F32] `tile:"n"`
}

func tree(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a treeArgs) {
		block, size := k.Block(), tile.AsIndex(a.Size.Reg())
		span := block.Striped(256, 4).Clip(a.X.Dim(1))
		group := k.BlockID().Div(size)
		first := group.Mul(size)
		end := first.Add(size).Min(k.NumBlocks())
		tile.Store(block, a.Part.Row(k.BlockID()), blockRows(k, a.X, span, a.Part.Dim(0)))
		tile.If(block, isLast(tile.AtomicAdd(block, a.Done.At(group), tile.U32(1), tile.AcqRel), end.Sub(first)), func() {
			tile.Store(block, a.Done.At(group), tile.U32(0))
			tile.Store(block, a.Group.Row(group), sumRows(block, a.Part, span, tile.Range(block, first, end, 1)))
			tile.If(block, isLast(tile.AtomicAdd(block, a.Count, tile.U32(1), tile.AcqRel), a.Group.Dim(0)), func() {
				tile.Store(block, a.Y, sumRows(block, a.Group, span, tile.Range(block, 0, a.Group.Dim(0), 1)))
				tile.Store(block, a.Count, tile.U32(0))
			})
		})
	}, tile.Threads(128), tile.Doc("Column sums in a tree of two levels."))
}

func treeKernels() tile.Set { return family(kernel{"op_tree", tree}) }

// mailArgs: block i leaves a row for blocks i+1 and i+2, which read it if it is there already.
type mailArgs struct {
	X    tile.Global[tile.I32] `tile:"rows,n"`
	Mail tile.Global[tile.I32] `tile:"rows,n"` // scratch
	Flag tile.Global[tile.I32] `tile:"rows"`   // 1: the row is there
	Y    tile.Global[tile.I32] `tile:"rows,n"` // the row of the block before, or -1
	Seen tile.Global[tile.I32] `tile:"rows,2"` // the flags that the block and its first warp read
	Warp tile.Global[tile.I32] `tile:"rows,n"` // as Y, of the block two before, read by one warp
}

func mail(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a mailArgs) {
		block, warp := k.Block(), k.Warp()
		span, thin := block.Striped(128, 1).Clip(a.X.Dim(1)), warp.Striped(128, 1).Clip(a.X.Dim(1))
		none := tile.I32(-1)
		for row := range tile.Persistent(k, a.X.Dim(0), tile.OneBlockEach()) {
			rows := a.X.Dim(0)
			before, second := row.Add(rows).SubInt(1).Rem(rows), row.Add(rows.Scale(2)).SubInt(2).Rem(rows)
			tile.Store(block, a.Mail.Row(row), tile.Load(block, a.X.Row(row), span))
			tile.Store(block, a.Flag.At(row), tile.I32(1), tile.Release)
			seen := tile.LoadScalar(block, a.Flag.At(before), tile.Acquire)
			tile.Store(block, a.Seen.At(row, 0), seen)
			tile.If(block, seen.Eq(tile.I32(1)), func() {
				tile.Store(block, a.Y.Row(row), tile.Load(block, a.Mail.Row(before), span))
			}, func() { tile.Store(block, a.Y.Row(row), tile.Full(block, span, none)) })
			block.Sync() // the warp's accesses are not the block's
			tile.If(warp, warp.Index().EqInt(0), func() {
				seen := tile.LoadScalar(warp, a.Flag.At(second), tile.Acquire)
				tile.Store(warp, a.Seen.At(row, 1), seen)
				tile.If(warp, seen.Eq(tile.I32(1)), func() {
					tile.Store(warp, a.Warp.Row(row), tile.Load(warp, a.Mail.Row(second), thin))
				}, func() { tile.Store(warp, a.Warp.Row(row), tile.Full(warp, thin, none)) })
			})
			block.Sync()
		}
	}, tile.Threads(64), tile.Doc("Rows handed from block to block by flags."))
}

func mailKernels() tile.Set { return family(kernel{"op_mail", mail}) }

// orderArgs: one value of every block on the counters, as atomicArgs, by atomics with orders.
type orderArgs[T tile.Number] struct {
	One  tile.Global[T]        `tile:"5"`        // add, max, min, exch, cas
	Old  tile.Global[T]        `tile:"blocks,5"` // what they returned
	Mine tile.Global[tile.I32] `tile:"m"`        // the block of each iteration
}

// shares makes the grid blocks, and stores which of them has each iteration.
func shares(k *tile.Builder, mine tile.Global[tile.I32], blocks tile.Index) {
	for i := range tile.Persistent(k, mine.Dim(0), tile.Blocks(blocks)) {
		tile.Store(k, mine.At(i), k.BlockID().Int())
	}
}

func order[T tile.Integer](name string) (*tile.Kernel, error) {
	c := tile.Const[T]
	return tile.Define(name, func(k *tile.Builder, a orderArgs[T]) {
		shares(k, a.Mine, a.Old.Dim(0))
		id := tile.Cast[T](k.BlockID().Int())
		for i, old := range []tile.Reg[T]{
			tile.AtomicAdd(k, a.One.At(0), c(3), tile.Acquire), tile.AtomicMax(k, a.One.At(1), id, tile.Release), tile.AtomicMin(k, a.One.At(2), id, tile.AcqRel),
			tile.AtomicExch(k, a.One.At(3), id, tile.AcqRel), tile.AtomicCAS(k, a.One.At(4), c(77), id, tile.AcqRel),
		} {
			tile.Store(k, a.Old.At(k.BlockID(), i), old)
		}
	}, tile.Threads(64), tile.Doc("Atomics with orders."))
}

func orderKernels() tile.Set {
	return family(kernel{"op_order_i32", order[tile.I32]}, kernel{"op_order_u32", order[tile.U32]}, kernel{"op_order_i64", order[tile.I64]})
}

// floatOrderArgs: a sum and a chain of exchanges.
type floatOrderArgs struct {
	Sum  tile.Global[tile.F32] `tile:"1"`
	Exch tile.Global[tile.F32] `tile:"1"`
	Old  tile.Global[tile.F32] `tile:"blocks,2"` // what they returned
	Mine tile.Global[tile.I32] `tile:"m"`
}

func floatOrder(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a floatOrderArgs) {
		shares(k, a.Mine, a.Old.Dim(0))
		tile.Store(k, a.Old.At(k.BlockID(), 0), tile.AtomicAdd(k, a.Sum, tile.F32(2), tile.Release))
		tile.Store(k, a.Old.At(k.BlockID(), 1), tile.AtomicExch(k, a.Exch, k.BlockID().AddInt(1).Float(), tile.AcqRel))
	}, tile.Threads(32), tile.Doc("Atomics with orders in f32."))
}

func floatOrderKernels() tile.Set { return family(kernel{"op_order_f32", floatOrder}) }
