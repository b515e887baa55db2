package plan

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// layoutArgs lays out the argument struct: tensor maps first, then pointers, strides and 64-bit scalars first, then the 4-byte fields, so that
// the only padding stands at the end.
func layoutArgs(s *state) error {
	add := func(a *thr.Arg) {
		a.Offset = s.out.ArgBytes
		s.out.ArgBytes += a.Bytes()
		s.out.Args = append(s.out.Args, a)
	}
	for _, m := range s.tensorMaps() {
		add(m)
	}
	for _, a := range s.k.Args {
		if !a.Scalar() {
			add(&thr.Arg{Name: a.Name, Kind: thr.ArgPointer, Type: thr.Type{DT: a.DT, Ptr: true, Const: !a.Written}, Arg: a})
		}
	}
	for _, a := range s.k.Args {
		if a.Scalar() {
			continue
		}
		for i := range a.Dims {
			if i < len(a.Dims)-1 || a.Strided {
				add(&thr.Arg{Name: fmt.Sprintf("%s_stride%d", a.Name, i), Kind: thr.ArgStride, Type: thr.Val(dtype.I64), Arg: a, Axis: i})
			}
		}
	}
	for _, wide := range []bool{true, false} {
		for _, a := range s.k.Args {
			if a.Scalar() && (a.DT == dtype.I64) == wide {
				add(&thr.Arg{Name: a.Name, Kind: thr.ArgScalar, Type: thr.Val(a.DT), Arg: a})
			}
		}
	}
	for _, y := range s.k.Symbols {
		add(&thr.Arg{Name: y.Name, Kind: thr.ArgDim, Type: thr.Val(dtype.I32), Symbol: y})
	}
	align := 8
	if s.out.Args != nil {
		align = max(align, s.out.Args[0].Align())
	}
	s.out.ArgBytes = (s.out.ArgBytes + align - 1) &^ (align - 1)
	return nil
}

// args finds the fields of the argument struct.
type args struct {
	pointer map[*ir.Arg]*thr.Arg
	stride  map[*ir.Arg]map[int]*thr.Arg
	scalar  map[*ir.Arg]*thr.Arg
	dim     map[*ir.Symbol]*thr.Arg
	maps    []*thr.Arg
}

func indexArgs(k *thr.Kernel) args {
	x := args{map[*ir.Arg]*thr.Arg{}, map[*ir.Arg]map[int]*thr.Arg{}, map[*ir.Arg]*thr.Arg{}, map[*ir.Symbol]*thr.Arg{}, nil}
	for _, a := range k.Args {
		switch a.Kind {
		case thr.ArgPointer:
			x.pointer[a.Arg] = a
		case thr.ArgStride:
			if x.stride[a.Arg] == nil {
				x.stride[a.Arg] = map[int]*thr.Arg{}
			}
			x.stride[a.Arg][a.Axis] = a
		case thr.ArgScalar:
			x.scalar[a.Arg] = a
		case thr.ArgMap:
			x.maps = append(x.maps, a)
		case thr.ArgDim:
			x.dim[a.Symbol] = a
		}
	}
	return x
}

// strideOf is the stride of a dimension in elements, an i64.
func (x args) strideOf(a *ir.Arg, dim int) thr.Expr {
	if f := x.stride[a][dim]; f != nil {
		return thr.ArgRef{Arg: f}
	}
	return i64(1)
}
