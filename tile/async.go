package tile

import "github.com/gotile/gotile/internal/ir"

// CopyAsync copies from global memory to a shared tile without passing through registers, 16 bytes a thread, while the
// scope goes on. What is copied is dst's shape: the shared tile, or for s.At(i) what At leaves of it, one dimension or
// two, whose rows are multiples of 16 bytes. It runs along the last dimensions of src, from the view's element on; what
// lies past the end of the buffer's dimensions becomes zero, so that a copy that begins past the end only fills in
// zeros. Where the source is not aligned to 16 bytes, a test that is the same for the whole launch, the elements go
// through registers.
//
// The copies since the last Commit are one group. They may be read after a WaitGroup that waits for their group; the
// planner places the barriers, also those before a copy into a tile that others may still read. A loop over chunks with
// S stages in one tile:
//
//	for i := range S - 1 {
//		tile.CopyAsync(block, stages.At(i), a.X.At(row, i*chunk))
//		tile.Commit(block)
//	}
//	for col := range tile.Range(block, 0, n, chunk) {
//		tile.WaitGroup(block, S-2) // the copy of this chunk is there
//		i := col.DivInt(chunk)
//		tile.CopyAsync(block, stages.At(i.AddInt(S-1).RemInt(S)), a.X.At(row, col.AddInt((S-1)*chunk)))
//		tile.Commit(block)
//		x := tile.Load(block, stages.At(i.RemInt(S)), span)
//		...
//	}
//	tile.WaitGroup(block, 0) // nothing in flight at the end
//
// Copying before reading needs one barrier an iteration. The source is an argument that the kernel does not write. T may
// be any type of numbers. Reading a tile before the wait is refused when the kernel is built for a target where the
// planner can tell, and otherwise reported by the simulator, as are copies that nobody waits for.
//
// In a slot of a pipeline it is a part of the slot's filling: see Pipeline. valid, an int, an Index or nil for each axis of
// what is copied, says where it ends before src does, as the last rows of a segment do; what lies past it becomes zero.
func CopyAsync[T Number](s Scope, dst, src Source[T], valid ...any) {
	b, scope := scopeOf(s)
	to, from := place(b, ir.CopyAsync, dst), place(b, ir.CopyAsync, src)
	if to == nil || from == nil {
		return
	}
	var ends []*ir.Value
	for _, e := range valid {
		var v *ir.Value
		if e != nil {
			v = indexOf(b, ir.CopyAsync, "an extent of CopyAsync", e)
			if v == nil {
				return
			}
		}
		ends = append(ends, v)
	}
	b.CopyAsync(scope, *to, *from, ends...)
}

// Commit ends a group of copies: those since the last Commit, which may be none.
func Commit(s Scope) {
	b, scope := scopeOf(s)
	b.Commit(scope)
}

// WaitGroup waits until at most n of the newest groups, 0 to 64, are in flight; WaitGroup(s, 0) waits for all that were
// committed.
func WaitGroup(s Scope, n int) {
	b, scope := scopeOf(s)
	b.WaitGroup(scope, n)
}
