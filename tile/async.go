package tile

import "github.com/gotile/gotile/internal/ir"

// Pieces is how many bytes a thread copies at once: 4, 8 or 16.
type Pieces int

// CopyOption is an option of CopyAsync, Pieces or Valid, and of StoreTensor, Valid.
type CopyOption interface{ apply(o *copyOptions) }

type copyOptions struct {
	pieces []Pieces
	valid  []any
}

func (p Pieces) apply(o *copyOptions) { o.pieces = append(o.pieces, p) }

type valid []any

func (v valid) apply(o *copyOptions) { o.valid = v }

// Valid says, an int, an Index or nil for each axis of what CopyAsync copies, where it ends before the source does, as the
// last rows of a segment do. What lies past it becomes zero. Of StoreTensor it says what is stored.
func Valid(extents ...any) CopyOption { return valid(extents) }

// CopyAsync copies from global memory to a shared tile without passing through registers, 16 bytes a thread, while the
// scope goes on. What is copied is dst's shape: the shared tile, or for s.At(i) what At leaves of it, one dimension or
// two. It runs along the last dimensions of src, from the view's element on; what lies past the end of the buffer's
// dimensions becomes zero, so that a copy that begins past the end only fills in zeros.
//
// Where rows of the tile are multiples of 8 or 4 bytes only, pieces are as small; Pieces asks for smaller ones than that.
// Where the source is not aligned to a piece, a test that is the same for the whole launch, the elements go through
// registers. A piece of one element needs no alignment: Pieces(4) copies rows of f32 from anywhere, with any strides.
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
// In a slot of a pipeline it is a part of the slot's filling: see Pipeline.
func CopyAsync[T Number](s Scope, dst, src Source[T], opts ...CopyOption) {
	b, scope := scopeOf(s)
	var o copyOptions
	for _, opt := range opts {
		opt.apply(&o)
	}
	if len(o.pieces) > 1 {
		b.Errorf(ir.CopyAsync, ErrLimit, "CopyAsync with %d sizes of pieces; give one", len(o.pieces))
		return
	}
	piece := 0
	if len(o.pieces) == 1 {
		if piece = int(o.pieces[0]); piece == 0 {
			b.Errorf(ir.CopyAsync, ErrLimit, "CopyAsync of %v in pieces of 0 bytes: a thread copies 4, 8 or 16 bytes at once, and whole elements; use one of these", dtypeOf[T]())
			return
		}
	}
	to, from := place(b, ir.CopyAsync, dst), place(b, ir.CopyAsync, src)
	if to == nil || from == nil {
		return
	}
	if ends, ok := o.ends(b, ir.CopyAsync); ok {
		b.CopyAsync(scope, *to, *from, piece, ends...)
	}
}

// ends are the extents of Valid; nil for those that are not given.
func (o *copyOptions) ends(b *ir.Builder, op ir.Op) (out []*ir.Value, ok bool) {
	for _, e := range o.valid {
		var v *ir.Value
		if e != nil {
			if v = indexOf(b, op, "an extent of Valid", e); v == nil {
				return nil, false
			}
		}
		out = append(out, v)
	}
	return out, true
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
