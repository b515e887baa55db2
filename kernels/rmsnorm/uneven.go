package rmsnorm

import (
	"iter"

	"github.com/gotile/gotile/tile"
)

// Multiprocessors do not get the same bandwidth, so blocks with equal shares of the rows end up to a tenth apart. Where
// shares are uneven there are twice as many blocks as are resident. The first half takes most rows. Blocks of the second
// half begin when others end, with so few rows each that all end together. Which rows a block takes depends on numbers
// alone, so that dw is the same in every run.

// smallShare is how many times as many rows the first half takes: what the second takes costs more, since each of its
// blocks reads w and writes a share of dw, too. With fewer than leastSteps steps of rows a block, shares are even.
const (
	smallShare = 12
	leastSteps = 3
)

// parts is how many blocks share rows, where so many are resident.
func (c Config) parts(rows, resident int) int {
	if c.Uneven && (rows+c.rows()-1)/c.rows() >= leastSteps*resident {
		return 2 * resident
	}
	return resident
}

// shares is the loop of a block over its rows, as many at a time as it serves: every so many steps in a first half, and
// in the second one after the other.
func (c Config) shares(k *tile.Builder, rows, blocks tile.Index) iter.Seq[tile.Index] {
	if !c.Uneven {
		return tile.Persistent(k, rows, tile.Step(c.rows()), tile.Blocks(blocks))
	}
	return func(yield func(tile.Index) bool) {
		k.Schedule(tile.Linear(rows, c.rows()), tile.Blocks(blocks))
		steps := rows.AddInt(c.rows() - 1).DivInt(c.rows())
		second := steps.Div(blocks).DivInt(leastSteps).MinInt(1).Mul(blocks.DivInt(2)) // blocks of the second half, or none
		first := blocks.Sub(second)
		share := steps.Div(first).DivInt(smallShare).MaxInt(1)
		most := steps.Sub(second.Mul(share)) // steps of the first half
		late := k.BlockID().Div(first).MinInt(1)
		nth := k.BlockID().Sub(first.Mul(late)) // of its half
		begin := nth.Add(late.Mul(most.Sub(nth)).Add(late.Mul(nth).Mul(share)))
		end := most.Add(late.Mul(nth.AddInt(1).Mul(share)))
		stride := first.Sub(late.Mul(first.SubInt(1)))
		for step := range tile.Range(k.Block(), begin, end, stride) {
			if !yield(step.Scale(c.rows())) {
				return
			}
		}
	}
}
