package tile

import "github.com/gotile/gotile/internal/ir"

// ScanOption says how a scan (CumSum, CumMax, CumMin, CumProd) goes.
type ScanOption uint8

// The options of scans.
const (
	Exclusive ScanOption = 1 + iota // an element counts those before it and not itself: the first gets the identity, 0, 1 or an infinity
	Reverse                         // from the axis' end: an element counts those after it
)

func (x Reg[T]) scan(op ir.Op, axis int, opts []ScanOption) Reg[T] {
	if x.b == nil {
		return x
	}
	info := ir.ScanInfo{Axis: axis}
	for _, o := range opts {
		switch o {
		case Exclusive:
			info.Exclusive = true
		case Reverse:
			info.Reverse = true
		default:
			x.b.Errorf(op, ErrControl, "%s with unknown option %d; use tile.Exclusive or tile.Reverse", ir.Table[op].Go, o)
			return Reg[T]{b: x.b}
		}
	}
	return Reg[T]{b: x.b, v: x.b.Scan(op, x.v, info)}
}
