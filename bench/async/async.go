// Package async is one kernel in three variants, timed side by side: what asynchronous copies buy. It sums the columns of
// a tensor and their squares, as batch normalisation needs them: a stream of rows that are read once, a few additions an
// element, next to nothing written. The variants share those additions and differ in how a row reaches the registers:
//
//   - sync loads a row and waits for it.
//   - cpasync has rows in flight to a ring of shared memory by cp.async, which the block's threads issue themselves.
//   - tma has a producer warp that keeps a tile.Pipeline full by bulk copies, which the TMA unit carries out.
package async

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// args of all variants. A block works on the rows of a part and writes a row of sums, so that the launch decides how
// many blocks there are: with as many as multiprocessors each has one.
type args = struct {
	X       tile.Global[tile.BF16] `tile:"rows,n"`
	Sums    tile.Global[tile.F32]  `tile:"parts,n"`
	Squares tile.Global[tile.F32]  `tile:"parts,n"`
}

// A family is the kernels of one type, among which a launch chooses by n: each variant is a family.
type (
	syncArgs     args
	cpAsync2Args args
	cpAsync4Args args
	cpAsync8Args args
	tma2Args     args
	tma4Args     args
	tma8Args     args
)

// vector is the columns of a thread: 16 bytes.
const vector = 8

// config is one kernel.
type config struct {
	variant string // sync, cpasync or tma
	stages  int    // rows of shared memory; 0: none
	columns int    // capacity: a thread has 8 of them
}

// KernelName says all of it.
func (c config) KernelName() string { return fmt.Sprintf("column_sums_%s_c%d", c.arm(), c.columns) }

// arm is the variant with its stages, the name in results.
func (c config) arm() string {
	if c.stages == 0 {
		return c.variant
	}
	return fmt.Sprintf("%s_%d", c.variant, c.stages)
}

// workers is the number of threads that add.
func (c config) workers() int { return c.columns / vector }

// producerThreads is the warp that copies.
const producerThreads = 32

// threads is the number of threads of a block.
func (c config) threads() int {
	if c.variant == "tma" {
		return c.workers() + producerThreads
	}
	return c.workers()
}

// shared is the bytes of rows in shared memory of a block.
func (c config) shared() int { return c.stages * c.columns * dtype.BF16.Size() }

// sums are the accumulators of a scope's threads.
type sums struct {
	s            tile.Scope
	sum, squares tile.Var[tile.F32]
}

func newSums(s tile.Scope, span tile.Span) sums {
	zero := tile.Full(s, span, tile.F32(0))
	return sums{s, tile.NewVar(s, zero), tile.NewVar(s, zero)}
}

// add is what all variants compute of a row.
func (v sums) add(row tile.Reg[tile.BF16]) {
	x := tile.Cast[tile.F32](row)
	v.sum.Set(v.sum.Get().Add(x))
	v.squares.Set(v.squares.Get().Add(x.Mul(x)))
}

// store writes to the row of a part.
func (v sums) store(sums, squares tile.Source[tile.F32]) {
	tile.Store(v.s, sums, v.sum.Get())
	tile.Store(v.s, squares, v.squares.Get())
}

// rowsOf is the first row of a part and the end of its rows.
func rowsOf(a args, part tile.Index) (first, end tile.Index) {
	rows, parts := a.X.Dim(0), a.Sums.Dim(0)
	each := rows.Add(parts).SubInt(1).Div(parts)
	return part.Mul(each).Min(rows), part.AddInt(1).Mul(each).Min(rows)
}

// synchronous loads a row into registers: what is in flight is what the resident threads wait for.
func synchronous(k *tile.Builder, a args, c config) {
	block, work := k.Block(), k.Schedule(tile.Linear(a.Sums.Dim(0), 1))
	span := block.Striped(c.columns, vector).Clip(a.X.Dim(1))
	for t := range work.Tiles(block) {
		v := newSums(block, span)
		first, end := rowsOf(a, t.Row)
		for row := range tile.Range(block, first, end, 1) {
			v.add(tile.Load(block, a.X.Row(row), span))
		}
		v.store(a.Sums.Row(t.Row), a.Squares.Row(t.Row))
	}
}

// cpAsync has stages-1 rows in flight while the block adds one.
func cpAsync(k *tile.Builder, a args, c config) {
	block, work := k.Block(), k.Schedule(tile.Linear(a.Sums.Dim(0), 1))
	span, ahead := block.Striped(c.columns, vector).Clip(a.X.Dim(1)), c.stages-1
	ring := tile.NewShared[tile.BF16](k, c.stages, c.columns)
	for t := range work.Tiles(block) {
		v := newSums(block, span)
		first, end := rowsOf(a, t.Row)
		fetch := func(stage, row tile.Index) { // past the end an empty group, so that the count of groups is right
			tile.If(block, row.Lt(end), func() { tile.CopyAsync(block, ring.At(stage), a.X.Row(row)) })
			tile.Commit(block)
		}
		for i := range ahead {
			fetch(first.AddInt(i).RemInt(c.stages), first.AddInt(i))
		}
		for row := range tile.Range(block, first, end, 1) {
			tile.WaitGroup(block, ahead-1)
			fetch(row.AddInt(ahead).RemInt(c.stages), row.AddInt(ahead))
			v.add(tile.Load(block, ring.At(row.RemInt(c.stages)), span))
		}
		tile.WaitGroup(block, 0)
		v.store(a.Sums.Row(t.Row), a.Squares.Row(t.Row))
	}
}

// slot is a row.
type slot struct {
	tile.Slot
	X tile.Shared[tile.BF16]
}

// tma has a warp that copies and warpgroups that add, each its columns.
func tma(k *tile.Builder, a args, c config) {
	const columns = 128 * vector // of a warpgroup
	pipe := tile.NewPipeline(k, c.stages, slot{X: tile.NewShared[tile.BF16](k, c.columns)})
	work := k.Schedule(tile.Linear(a.Sums.Dim(0), 1))
	k.Roles(tile.Producer(0, func(p tile.Warp) {
		for t := range work.Tiles(p) {
			first, end := rowsOf(a, t.Row)
			for row := range tile.Range(p, first, end, 1) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.X, a.X.Row(row))
			}
		}
	}), tile.Consumers(c.columns/columns, 0, func(g tile.Warpgroup) {
		mine := g.Index().Scale(columns)
		span := g.Striped(columns, vector).Clip(a.X.Dim(1).Sub(mine).MaxInt(0).MinInt(columns))
		for t := range work.Tiles(g) {
			v := newSums(g, span)
			first, end := rowsOf(a, t.Row)
			for range tile.Range(g, first, end, 1) {
				s := pipe.Wait(g)
				x := tile.Load(g, s.X.At(mine), span)
				s.Release(g)
				v.add(x)
			}
			v.store(a.Sums.At(t.Row, mine), a.Squares.At(t.Row, mine))
		}
	}))
}

// configs are the kernels, by family: narrow and wide rows.
func configs(variant string, stages int) []config {
	return []config{{variant, stages, 1024}, {variant, stages, 4096}}
}

// define makes the family of a variant, whose Args are of a type of its own.
func define[A interface{ ~args }](body func(*tile.Builder, args, config), doc string, list []config) tile.Set {
	return tile.Configs(func(c config) (*tile.Kernel, error) {
		opts := []tile.Option{tile.Threads(c.threads()), tile.WholeVectors(), tile.Doc(doc)}
		if c.variant == "tma" {
			opts = append(opts, tile.Targets("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"))
		}
		return tile.Define(c.KernelName(), func(k *tile.Builder, a A) {
			args(a).X.Dim(1).AtMost(c.columns)
			body(k, args(a), c)
		}, opts...)
	}, list...)
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	const (
		ringDoc = "Sums of columns and of their squares; rows by cp.async through a ring."
		pipeDoc = "Sums of columns and of their squares; rows by bulk copies through a pipeline."
	)
	return tile.Sets(
		define[syncArgs](synchronous, "Sums of columns and of their squares; rows into registers.", configs("sync", 0)),
		define[cpAsync2Args](cpAsync, ringDoc, configs("cpasync", 2)),
		define[cpAsync4Args](cpAsync, ringDoc, configs("cpasync", 4)),
		define[cpAsync8Args](cpAsync, ringDoc, configs("cpasync", 8)),
		define[tma2Args](tma, pipeDoc, configs("tma", 2)),
		define[tma4Args](tma, pipeDoc, configs("tma", 4)),
		define[tma8Args](tma, pipeDoc, configs("tma", 8)),
	)
}
