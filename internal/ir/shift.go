package ir

import "github.com/gotile/gotile/dtype"

// LoadShifted records a load of rows that lie rows before those of the place; rows outside the buffer are zero. The
// result has the extents of a load of the place itself.
func (b *Builder) LoadShifted(s Scope, p Place, span *Span, rows int) *Value {
	if rows == 0 {
		return b.Load(s, p, span, How{})
	}
	if span.Rank() != 2 {
		b.Errorf(Load, ErrShape, "LoadShifted of %s: it shifts the rows of a tile; use a span of rank 2", vector(span))
		return nil
	}
	offs, span, ok := b.place(Load, s, p, span)
	if !ok {
		return nil
	}
	row := len(offs) - 2
	if offs[row] = b.Index(Sub, offs[row], b.Int(rows)); offs[row] == nil {
		return nil
	}
	var dt dtype.Type
	if p.Arg != nil {
		p.Arg.Read, dt = true, p.Arg.DT
	} else {
		dt = p.Shared.DT
	}
	return b.emit(&Value{Op: Load, Type: Type{DT: dt, Span: span}, Args: offs, Scope: s,
		Attr: &Access{Arg: p.Arg, Shared: p.Shared, Peer: p.Peer, Shift: rows}})
}
