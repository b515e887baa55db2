package ir

import (
	"fmt"
	"slices"
)

// differ compares two recordings of one body and keeps the first difference.
type differ struct {
	to  map[*Value]*Value // values of the first recording to those of the second
	pos Pos
	op  Op
	why string
}

func (d *differ) fail(v *Value, format string, args ...any) bool {
	d.pos, d.op, d.why = v.Pos, v.Op, fmt.Sprintf(format, args...)
	return false
}

func (d *differ) regions(as, cs []*Region) bool {
	for i, a := range as { // the ops around were equal, so there are as many
		if a != nil && !d.region(a, cs[i]) {
			return false
		}
	}
	return true
}

func (d *differ) region(a, c *Region) bool {
	if c == nil {
		return d.fail(a.Owner, "%s has no else the second time", Table[a.Owner.Op].Go)
	}
	if a.Ind != nil {
		d.to[a.Ind] = c.Ind
	}
	for i, x := range a.Ops {
		if i >= len(c.Ops) {
			return d.fail(x, "%s is recorded the first time only", Table[x.Op].Go)
		}
		if !d.value(x, c.Ops[i]) {
			return false
		}
	}
	if len(c.Ops) > len(a.Ops) {
		x := c.Ops[len(a.Ops)]
		return d.fail(x, "%s is recorded the second time only", Table[x.Op].Go)
	}
	if a.Yield != nil && d.second(a.Yield) != c.Yield {
		return d.fail(a.Owner, "the condition is another value the second time")
	}
	return true
}

func (d *differ) second(v *Value) *Value {
	if w := d.to[v]; w != nil {
		return w
	}
	return v
}

func (d *differ) value(x, y *Value) bool {
	name := Table[x.Op].Go
	if x.Op != y.Op {
		return d.fail(x, "%s the first time, %s the second", name, Table[y.Op].Go)
	}
	if len(x.Args) != len(y.Args) {
		return d.fail(x, "%s has %d operands the first time, %d the second", name, len(x.Args), len(y.Args))
	}
	for i, a := range x.Args {
		if b := y.Args[i]; d.second(a) != b {
			return d.fail(x, "operand %d of %s is %s the first time, %s the second", i+1, name, operand(a), operand(b))
		}
	}
	if x.Type.DT != y.Type.DT || !x.Type.Span.SameShape(y.Type.Span) || x.Scope != y.Scope {
		return d.fail(x, "%s makes a tile of %s the first time, of %s the second", name, shape(x.Type.Span), shape(y.Type.Span))
	}
	if x.Type.Span != nil {
		for i := range x.Type.Span.Rank() {
			if e, f := x.Type.Span.extent(i), y.Type.Span.extent(i); d.second(e) != f {
				return d.fail(x, "axis %d of %s ends at %s the first time, at %s the second", i, name, operand(e), operand(f))
			}
		}
	}
	if !sameAttr(x.Attr, y.Attr) {
		return d.fail(x, "%s is not the same op the second time: %s, then %s", name, attrText(x.Attr), attrText(y.Attr))
	}
	d.to[x] = y
	return d.regions(x.Regions, y.Regions)
}

// operand names a value in a message about two recordings.
func operand(v *Value) string {
	switch {
	case v == nil:
		return "nothing"
	case v.In == nil:
		return v.expr()
	case v.Op == Invalid:
		return "the loop variable of " + v.Pos.String()
	}
	return "the " + Table[v.Op].Go + " of " + v.Pos.String()
}

// sameAttr compares attributes but for spans, which the types have.
func sameAttr(a, b any) bool {
	switch a := a.(type) {
	case *Access:
		b, ok := b.(*Access)
		return ok && a.Arg == b.Arg && a.Peer == b.Peer && a.Shift == b.Shift && a.How == b.How && sameShared(a.Shared, b.Shared)
	case []int:
		b, ok := b.([]int)
		return ok && slices.Equal(a, b)
	case *PersistentInfo:
		b, ok := b.(*PersistentInfo)
		return ok && *a == *b
	case *CopyInfo:
		b, ok := b.(*CopyInfo)
		return ok && a.Src == b.Src && a.Bytes == b.Bytes && a.Valid == b.Valid && sameShared(a.Dst, b.Dst)
	case *BarrierInfo:
		b, ok := b.(*BarrierInfo)
		return ok && *a == *b
	case *SlotInfo:
		b, ok := b.(*SlotInfo)
		return ok && *a == *b
	case *MMAInfo:
		b, ok := b.(*MMAInfo)
		return ok && a.Form == b.Form && a.Overwrite == b.Overwrite && a.Sync == b.Sync && a.K == b.K && a.Terms == b.Terms && a.Cut == b.Cut && sameShared(a.A, b.A) && sameShared(a.B, b.B)
	case *BulkInfo:
		b, ok := b.(*BulkInfo)
		return ok && a.Arg == b.Arg && a.Bar == b.Bar && sameShared(a.Shared, b.Shared)
	case *TensorInfo:
		b, ok := b.(*TensorInfo)
		return ok && a.Arg == b.Arg && a.Bar == b.Bar && a.Rank == b.Rank && a.Reduce == b.Reduce && sameShared(a.Shared, b.Shared)
	case *RemoteInfo:
		b, ok := b.(*RemoteInfo)
		return ok && a.Bar == b.Bar && sameShared(a.Shared, b.Shared)
	case *AsmInfo:
		b, ok := b.(*AsmInfo)
		return ok && a.Template == b.Template && a.Volatile == b.Volatile
	case *Span:
		_, ok := b.(*Span)
		return ok
	}
	return a == b
}

// sameShared compares by content: a tile made in the body is another one the second time.
func sameShared(a, b *SharedTile) bool {
	return a == b || a != nil && b != nil && a.Name == b.Name && a.DT == b.DT && slices.Equal(a.Shape, b.Shape) && a.Manual == b.Manual &&
		a.Swizzle == b.Swizzle
}

func attrText(a any) string {
	switch a := a.(type) {
	case *Access:
		s := Place{Arg: a.Arg, Shared: a.Shared}.Name()
		if a.Shared != nil {
			s += fmt.Sprintf(" %v%v", a.Shared.DT, a.Shared.Shape)
		}
		if a.Cache != CacheDefault {
			s += " hint " + a.Cache.String()
		}
		if a.Order != Relaxed {
			s += " order " + a.Order.String()
		}
		return s
	case *CopyInfo:
		return fmt.Sprintf("%s to %v%v", a.Src.Field, a.Dst.DT, a.Dst.Shape)
	case *Named:
		return "named barrier of " + a.Pos.String()
	case *BarrierInfo:
		return "mbarrier of " + a.Bar.Pos.String()
	case *SlotInfo:
		return "pipeline of " + a.Pipe.Pos.String()
	case *MMAInfo:
		return a.Form.String()
	case *BulkInfo:
		return fmt.Sprintf("%s and %v%v", a.Arg.Field, a.Shared.DT, a.Shared.Shape)
	case *RemoteInfo:
		return fmt.Sprintf("a peer's %v%v", a.Shared.DT, a.Shared.Shape)
	case int:
		return fmt.Sprintf("axis %d", a)
	case []int:
		return fmt.Sprintf("axes %v", a)
	case *TensorInfo:
		return fmt.Sprintf("%s and %v%v", a.Arg.Field, a.Shared.DT, a.Shared.Shape)
	case *AsmInfo:
		return fmt.Sprintf("%q", a.Template)
	}
	return fmt.Sprint(a)
}
