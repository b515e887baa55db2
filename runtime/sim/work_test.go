package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

type tilesArgs struct {
	Y    tile.Global[tile.I32] `tile:"rows,n"`
	Seen tile.Global[tile.I32] `tile:"down,right"` // how often a tile was visited
	When tile.Global[tile.I32] `tile:"down,right"` // and as which of its block's
}

const superRows, superCols, superHigh = 4, 8, 3

// superRow visits the tiles of Y in super-rows of three tiles, on grids of any size.
func superRow(k *tile.Builder, a tilesArgs) {
	work := k.Schedule(tile.SuperRows(a.Y, superRows, superCols, superHigh))
	k.Roles(tile.ConsumerWarps(1, 0, func(c tile.Warp) {
		turn := tile.NewVar(c, tile.I32(0))
		for t := range work.Tiles(c) {
			i, j := t.Row.DivInt(superRows), t.Col.DivInt(superCols)
			turn.Set(turn.Get().Add(tile.I32(1)))
			tile.AtomicAdd(c, a.Seen.At(i, j), tile.Full(c, c.Striped(1, 1), tile.I32(1)))
			tile.Store(c, a.When.At(i, j), turn.Get())
			tile.Store(c, a.Y.At(t.Row, t.Col), tile.Full(c, c.Striped2(superRows, superCols, 1, 8), tile.I32(7)))
		}
	}))
}

// A schedule of super-rows visits each tile once, however ragged the matrix and whatever the grid, and one block visits
// them down before right within a super-row.
func TestSuperRows(t *testing.T) {
	k := compiled(t, "sm_90a", superRow, tile.Threads(32))
	for _, size := range [][2]int{{0, 5}, {5, 0}, {1, 1}, {4, 8}, {5, 9}, {12, 24}, {13, 8}, {27, 41}} {
		rows, n := size[0], size[1]
		down, right := (rows+superRows-1)/superRows, (n+superCols-1)/superCols
		for _, grid := range []int{1, 2, 5, 64} {
			out, err := k.run(t, grid, map[string]int{"rows": rows, "n": n, "down": down, "right": right}, map[string][]int32{"seen": make([]int32, down*right)}, sim.Options{Seed: uint64(grid)})
			if err != nil {
				t.Fatalf("%dx%d on %d blocks: %v", rows, n, grid, err)
			}
			for i, v := range out["y"] {
				if v != 7 {
					t.Fatalf("%dx%d on %d blocks: element %d is not written", rows, n, grid, i)
				}
			}
			for i := range down * right {
				// tiles of the super-rows above, of the columns before, and of the rows above
				first := i / right / superHigh * superHigh
				turn := first*right + i%right*min(down-first, superHigh) + i/right - first
				if seen := out["seen"][i]; seen != 1 {
					t.Fatalf("%dx%d on %d blocks: tile %d is visited %d times", rows, n, grid, i, seen)
				}
				if when, want := int(out["when"][i]), turn/grid+1; when != want {
					t.Fatalf("%dx%d on %d blocks: tile %d is number %d of its block, want %d", rows, n, grid, i, when, want)
				}
			}
		}
	}
}

type segmentArgs struct {
	X    tile.Global[tile.I32] `tile:"rows,32"`
	Y    tile.Global[tile.I32] `tile:"items,8,32"`
	List tile.Global[tile.I32] `tile:"items,2"` // where a piece of a segment begins, and how many rows it has, 0 to 8
}

type segmentSlot struct {
	tile.Slot
	X tile.Shared[tile.I32]
}

// segments copies pieces of segments, and zeros where they have ended.
func segments(sw layout.Swizzle) func(k *tile.Builder, a segmentArgs) {
	return func(k *tile.Builder, a segmentArgs) {
		pipe := tile.NewPipeline(k, 2, segmentSlot{X: tile.NewShared[tile.I32](k, 8, 32).Swizzle(sw)})
		work := k.Schedule(tile.WorkList(a.List))
		k.Roles(tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.X, a.X.At(t.Row), tile.Valid(t.Fields[1]))
			}
		}), tile.ConsumerWarps(1, 0, func(c tile.Warp) {
			for t := range work.Tiles(c) {
				s := pipe.Wait(c)
				tile.Store(c, a.Y.At(t.Item), tile.Load(c, s.X, c.Striped2(8, 32, 4, 8)))
				s.Release(c)
			}
		}))
	}
}

// A work list's pieces are taken once each by any grid; rows past a segment's end are zero although the tensor goes on, by
// all copies.
func TestWorkList(t *testing.T) {
	const rows = 40
	x := counting(rows * 32)
	for _, target := range []string{"sm_90a", "sm_80"} {
		for _, sw := range []layout.Swizzle{layout.NoSwizzle, layout.Swizzle128} {
			k := compiled(t, target, segments(sw), tile.Threads(64))
			for _, list := range [][]int32{{}, {0, 4}, {0, 8, 8, 3, 11, 0, 11, 8, 39, 1, 36, 4, 32, 8, 19, 8, 27, 5, 3, 8}} {
				items := len(list) / 2
				for _, grid := range []int{1, 3, 16} {
					for _, mode := range modes {
						what := fmt.Sprintf("%s, %v, %d items, %d blocks, copies %v", target, sw, items, grid, mode)
						out, err := k.run(t, grid, map[string]int{"rows": rows, "items": items}, map[string][]int32{"x": x, "list": list}, sim.Options{Copies: mode})
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						for i, v := range out["y"] {
							item, row, col := i/256, i/32%8, i%32
							want := int32(0)
							if first := int(list[2*item]); row < int(list[2*item+1]) {
								want = x[(first+row)*32+col]
							}
							if v != want {
								t.Fatalf("%s: row %d of item %d is %d at column %d, want %d", what, row, item, v, col, want)
							}
						}
					}
				}
			}
		}
	}
}

type exitArgs struct {
	X tile.Global[tile.I32] `tile:"rows,64"`
	Y tile.Global[tile.I32] `tile:"rows,64"`
	N tile.Global[tile.I32] `tile:"2"` // how many rows the producer fills, and how many the consumer reads
}

// leaving has roles that leave their loops when memory says so.
func leaving(k *tile.Builder, a exitArgs) {
	pipe := tile.NewPipeline(k, 3, rowSlot{A: tile.NewShared[tile.I32](k, 64)})
	until := func(s tile.Warp, end int, body func(row tile.Index)) {
		i := tile.NewVar(s, tile.I32(0))
		last := tile.LoadScalar(s, a.N.At(end))
		tile.While(s, func() tile.Reg[tile.Bool] { return i.Get().Lt(last) }, func() {
			body(tile.AsIndex(i.Get()))
			i.Set(i.Get().Add(tile.I32(1)))
		})
	}
	k.Roles(tile.Producer(0, func(p tile.Warp) {
		until(p, 0, func(row tile.Index) {
			s := pipe.Acquire(p)
			tile.CopyAsync(s, s.A, a.X.At(row))
		})
	}), tile.ConsumerWarps(1, 0, func(c tile.Warp) {
		until(c, 1, func(row tile.Index) {
			s := pipe.Wait(c)
			tile.Store(c, a.Y.At(row), tile.Load(c, s.A, c.Striped(64, 1)))
			s.Release(c)
		})
	}))
}

// Producer and consumer may leave early together. What one of them leaves behind is reported: a slot that is filled and not
// read, and a wait for one that nobody fills.
func TestEarlyExit(t *testing.T) {
	const rows = 12
	k := compiled(t, "sm_90a", leaving, tile.Threads(64))
	for _, c := range []struct {
		filled, read int32
		kind         sim.Kind // "": right
	}{{0, 0, ""}, {1, 1, ""}, {2, 2, ""}, {3, 3, ""}, {4, 4, ""}, {rows, rows, ""}, {3, 2, sim.NotAwaited}, {1, 0, sim.NotAwaited}, {2, 3, sim.Deadlock}, {0, 1, sim.Deadlock}, {rows, 7, sim.Deadlock}} {
		for _, mode := range modes {
			_, err := k.run(t, 1, map[string]int{"rows": rows}, map[string][]int32{"x": counting(64 * rows), "n": {c.filled, c.read}}, sim.Options{Copies: mode})
			var e *sim.Errors
			switch errors.As(err, &e); {
			case c.kind == "" && err != nil:
				t.Errorf("%d filled, %d read, copies %v: %v", c.filled, c.read, mode, err)
			case c.kind != "" && (e == nil || !e.Has(c.kind)):
				t.Errorf("%d filled, %d read, copies %v: no %s: %v", c.filled, c.read, mode, c.kind, err)
			case c.kind == sim.NotAwaited && !strings.HasPrefix(e.Error(), "work_test.go:"):
				t.Errorf("%d filled, %d read, copies %v: no line of the copy: %v", c.filled, c.read, mode, err)
			}
		}
	}
}

type segmentStoreArgs struct {
	X, Y tile.Global[tile.I32] `tile:"rows,32"`
	List tile.Global[tile.I32] `tile:"items,2"` // where a segment begins, and how many rows it has
}

// storedSegments copies boxes of 8 rows of segments to Y by tensor copies. It says where a segment ends, or not.
func storedSegments(says bool) func(k *tile.Builder, a segmentStoreArgs) {
	return func(k *tile.Builder, a segmentStoreArgs) {
		pipe := tile.NewPipeline(k, 2, segmentSlot{X: tile.NewShared[tile.I32](k, 8, 32).Swizzle(layout.Swizzle128)})
		work := k.Schedule(tile.WorkList(a.List))
		var valid []tile.CopyOption
		k.Roles(tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.X, a.X.At(t.Row))
			}
		}), tile.ConsumerWarps(1, 0, func(c tile.Warp) {
			for t := range work.Tiles(c) {
				s := pipe.Wait(c)
				if valid = nil; says {
					valid = append(valid, tile.Valid(t.Fields[1]))
				}
				tile.StoreTensor(c, a.Y.At(t.Row), s.X, valid...)
				s.Release(c)
			}
		}))
	}
}

// A tensor store with Valid writes the rows of its segment and no others; one without writes its whole box.
func TestStoreTensorOfSegments(t *testing.T) {
	const rows = 29
	x, list := counting(rows*32), []int32{0, 3, 8, 0, 9, 1, 11, 8, 22, 7}
	inside := map[bool]func(row int32) bool{
		true: func(row int32) bool {
			for i := 0; i < len(list); i += 2 {
				if row >= list[i] && row < list[i]+list[i+1] {
					return true
				}
			}
			return false
		},
		false: func(row int32) bool { return row < 19 || row >= 22 },
	}
	for says, in := range inside {
		k := compiled(t, "sm_90a", storedSegments(says), tile.Threads(64))
		for _, mode := range modes {
			out, err := k.run(t, 1, map[string]int{"rows": rows, "items": len(list) / 2}, map[string][]int32{"x": x, "y": make([]int32, rows*32), "list": list}, sim.Options{Copies: mode})
			if err != nil && says {
				t.Fatalf("copies %v: %v", mode, err)
			}
			for i, v := range out["y"] {
				want := int32(0)
				if in(int32(i / 32)) {
					want = x[i]
				}
				if v != want {
					t.Fatalf("valid rows %v, copies %v: row %d is %d at column %d, want %d", says, mode, i/32, v, i%32, want)
				}
			}
		}
	}
}
