package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Values of 8-bit types are their bits, in the low 8 of a u32: nothing computes with them, and what moves them keeps every
// pattern, NaN and infinities too. Four lie in a register of a tile.

// decoded8 is the type that an 8-bit type converts to and from by one instruction.
func decoded8(t dtype.Type) dtype.Type {
	if t == dtype.I8 {
		return dtype.I32
	}
	return dtype.F32
}

var (
	decoders8 = map[dtype.Type]thr.Fn{dtype.E4M3: thr.E4M3ToF32, dtype.E5M2: thr.E5M2ToF32, dtype.I8: thr.I8ToI32}
	encoders8 = map[dtype.Type]thr.Fn{dtype.E4M3: thr.F32ToE4M3, dtype.E5M2: thr.F32ToE5M2, dtype.I8: thr.I32ToI8}
	// pairs8 encode two at once.
	pairs8 = map[thr.Fn]thr.Fn{thr.F32ToE4M3: thr.E4M3Pair, thr.F32ToE5M2: thr.E5M2Pair, thr.I32ToI8: thr.I8Pair}
)

func decode8(t dtype.Type, x thr.Expr) thr.Expr { return call(decoders8[t], decoded8(t), x) }
func encode8(t dtype.Type, x thr.Expr) thr.Expr { return call(encoders8[t], dtype.U32, x) }

// clamp8 brings integers that an i32 may not hold into the range of i8, before they become one.
func clamp8(from, to dtype.Type, x thr.Expr) thr.Expr {
	switch {
	case to != dtype.I8:
		return x
	case from == dtype.U32:
		return bin(ir.Min, x, literal(from, 127))
	case from == dtype.I64:
		return bin(ir.Max, bin(ir.Min, x, i64(127)), i64(-128))
	}
	return x
}

// byteOf is element n, from 0 to 3, of a register.
func byteOf(r thr.Expr, n thr.Expr) thr.Expr {
	if k, ok := intOf(n); ok && k == 0 {
		return bin(ir.And, r, literal(dtype.U32, 0xff))
	} else if ok && k == 3 {
		return bin(ir.Shr, r, literal(dtype.U32, 24))
	}
	return bin(ir.And, bin(ir.Shr, r, toU32(mul(n, i32(8)))), literal(dtype.U32, 0xff))
}

// withPart is a register with a part more, from a bit on; the first part is the register.
func withPart(register, part thr.Expr, bit int) thr.Expr {
	if register == nil {
		return part
	}
	return bin(ir.Or, register, bin(ir.Shl, part, literal(dtype.U32, bit)))
}

// fourBytes puts four elements into a register. Those that are just being converted are, two at a time.
func fourBytes(xs []thr.Expr) thr.Expr {
	two := func(lo, hi thr.Expr) thr.Expr {
		a, ok := lo.(thr.Call)
		b, ok2 := hi.(thr.Call)
		if pair := pairs8[a.Fn]; ok && ok2 && a.Fn == b.Fn && pair != thr.InvalidFn {
			return call(pair, dtype.U32, a.Args[0], b.Args[0])
		}
		return bin(ir.Or, lo, bin(ir.Shl, hi, literal(dtype.U32, 8)))
	}
	return bin(ir.Or, two(xs[0], xs[1]), bin(ir.Shl, two(xs[2], xs[3]), literal(dtype.U32, 16)))
}

// moved8 is where the registers of a tile lie that are another's as they are: those of a Fill that has nothing to fill.
func (l *lowering) moved8(v *ir.Value, known element) *thr.Local {
	if v.Op != ir.Fill || !v.Type.DT.Is8() || len(l.fillAxes(v)) > 0 {
		return nil
	}
	return l.packed(v.Args[0], known)
}
