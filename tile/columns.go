package tile

import (
	"iter"

	"github.com/gotile/gotile/internal/ir"
)

// Columns is the loop over a row of n elements in chunks, for rows above the capacity of a span: Range(s, 0, n, c) with
// the capacity c of the span's last axis. The variable is the first column of a chunk; it goes into the view, x.At(row, col); the last chunk is clipped at
// the end of the row as any tile is. Results over the row live in a Var: a reduction of each chunk, or a tile of partial
// results, whose chunks Fill makes whole. The chunks of a row are moved 16 bytes at a time where the row is.
func Columns[N Int](s Scope, n N, span Span) iter.Seq[Index] {
	b, scope := scopeOf(s)
	return func(yield func(Index) bool) {
		step := 1
		if sameScope(b, ir.Range, scope, span) {
			step = span.s.Dist.Shape[span.s.Rank()-1]
		}
		b.Loop(scope, b.Int(0), indexOf(b, ir.Range, "the bound of Columns", n), b.Int(step), func(i *ir.Value) bool { return yield(Index{b: b, v: i}) })
	}
}
