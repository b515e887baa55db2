package ir_test

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/layout"
)

// sample records a small kernel with every kind of region: a persistent loop around an If, a variable, a reduction,
// memory.
func sample(t *testing.T) *ir.Kernel {
	t.Helper()
	b := ir.NewBuilder("sample")
	b.Kernel.Threads = 64
	n := &ir.Symbol{Name: "n"}
	x := &ir.Arg{Field: "X", Name: "x", DT: dtype.F32, Dims: []ir.DimSpec{{Symbol: n}, {Size: 64}}}
	b.Kernel.Args, b.Kernel.Symbols = []*ir.Arg{x}, []*ir.Symbol{n}
	span := &ir.Span{Scope: ir.ScopeBlock, Dist: layout.Striped(64, 64, 1)}
	b.Run(func() {
		rows := b.Dim(x.Dims[0])
		b.Persist(rows, 1, ir.PersistentInfo{Scope: ir.ScopeBlock}, func(i *ir.Value) bool {
			v := b.Load(ir.ScopeBlock, ir.Place{Arg: x, Offs: []*ir.Value{i}}, span, ir.How{})
			sum := b.NewVar(ir.ScopeBlock, b.Reduce(ir.Sum, v))
			c := b.Apply(ir.Lt, nil, 0, b.Get(sum), b.Const(dtype.F32, 0))
			b.If(ir.ScopeBlock, c, func() { b.Set(sum, b.Apply(ir.Neg, nil, 0, b.Get(sum))) }, nil)
			y := b.Apply(ir.Mul, nil, 0, v, b.Get(sum))
			b.Store(ir.Store, ir.ScopeBlock, ir.Place{Arg: x, Offs: []*ir.Value{i}}, ir.How{}, y)
			return true
		})
	})
	k, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// find is the first op of a kind, in order of recording.
func find(r *ir.Region, op ir.Op) *ir.Value {
	for _, v := range r.Ops {
		if v.Op == op {
			return v
		}
		for _, in := range v.Regions {
			if in != nil {
				if w := find(in, op); w != nil {
					return w
				}
			}
		}
	}
	return nil
}

// TestVerify breaks a right kernel in one way at a time.
func TestVerify(t *testing.T) {
	if err := ir.Verify(sample(t)); err != nil {
		t.Fatalf("a right kernel: %v", err)
	}
	for _, c := range []struct {
		name  string
		spoil func(k *ir.Kernel)
		want  string
	}{
		{"operand of another region", func(k *ir.Kernel) {
			in := find(k.Body, ir.Neg)
			find(k.Body, ir.Store).Args[0] = in
		}, "is not visible"},
		{"operand defined later", func(k *ir.Kernel) {
			find(k.Body, ir.Sum).Args[0] = find(k.Body, ir.Mul)
		}, "is not visible"},
		{"nil operand", func(k *ir.Kernel) { find(k.Body, ir.Neg).Args[0] = nil }, "an operand is nil"},
		{"arity", func(k *ir.Kernel) { v := find(k.Body, ir.Mul); v.Args = v.Args[:1] }, "1 operands, not 2"},
		{"offsets", func(k *ir.Kernel) { v := find(k.Body, ir.Load); v.Args = v.Args[:1] }, "0 and 2 offsets"},
		{"result type", func(k *ir.Kernel) { find(k.Body, ir.Lt).Type.DT = dtype.F32 }, "its type is f32"},
		{"domain", func(k *ir.Kernel) { find(k.Body, ir.Neg).Op = ir.Not }, "Not has no f32 form"},
		{"span of a load", func(k *ir.Kernel) {
			find(k.Body, ir.Load).Type.Span = &ir.Span{Scope: ir.ScopeBlock, Dist: layout.Striped(64, 128, 1)}
		}, "its type is f32 of 64, not f32 of 128"},
		{"type of a load", func(k *ir.Kernel) { find(k.Body, ir.Load).Type.DT = dtype.I32 }, "loads i32 from f32"},
		{"axes", func(k *ir.Kernel) { find(k.Body, ir.Sum).Attr = []int{1} }, "axes [1] of a tile of rank 1"},
		{"variable", func(k *ir.Kernel) { v := find(k.Body, ir.Get); v.Args[0] = find(k.Body, ir.Sum) }, "no variable but sum"},
		{"type of a variable", func(k *ir.Kernel) {
			find(k.Body, ir.Set).Args[1] = &ir.Value{ID: -1, Op: ir.Const, Type: ir.Type{DT: dtype.I32}, Attr: ir.Bits(0), Scope: ir.ScopeBlock}
		}, "a variable of f32 takes i32"},
		{"two values of one ID", func(k *ir.Kernel) { find(k.Body, ir.Mul).ID = find(k.Body, ir.Sum).ID }, "ID is negative or taken"},
		{"region list", func(k *ir.Kernel) { find(k.Body, ir.Mul).In = k.Body }, "does not name"},
		{"region owner", func(k *ir.Kernel) { find(k.Body, ir.If).Regions[0].Owner = nil }, "another owner or parent"},
		{"missing induction variable", func(k *ir.Kernel) { find(k.Body, ir.Persistent).Regions[0].Ind = nil }, "induction variable is missing"},
		{"missing region", func(k *ir.Kernel) { find(k.Body, ir.If).Regions = nil }, "0 regions, not 2"},
		{"condition", func(k *ir.Kernel) { find(k.Body, ir.If).Args[0] = find(k.Body, ir.Get) }, "not a bool"},
		{"persistent loop inside", func(k *ir.Kernel) { v := find(k.Body, ir.If); v.Op = ir.Persistent }, "1 operands, not 2"},
		{"foreign buffer", func(k *ir.Kernel) { k.Args = nil }, "buffer is not the kernel's"},
		{"two buffers", func(k *ir.Kernel) { find(k.Body, ir.Load).Attr.(*ir.Access).Shared = &ir.SharedTile{} }, "no buffer, or two"},
		{"a shared tile of another region", func(k *ir.Kernel) {
			k.Shared = []*ir.SharedTile{{DT: dtype.F32, Shape: []int{1, 64}, In: find(k.Body, ir.If).Regions[0]}}
			a := find(k.Body, ir.Load).Attr.(*ir.Access)
			a.Arg, a.Shared = nil, k.Shared[0]
		}, "ends with another region"},
		{"no scope", func(k *ir.Kernel) { find(k.Body, ir.Sum).Scope = ir.NoScope }, "no scope"},
		{"block op at warp scope", func(k *ir.Kernel) { find(k.Body, ir.Persistent).Scope = ir.ScopeWarp }, "inside a region of scope warp"},
		{"leaf in a region", func(k *ir.Kernel) { find(k.Body, ir.Mul).Op = ir.Const }, "cannot stand in a region"},
		{"extents", func(k *ir.Kernel) {
			v := find(k.Body, ir.Load)
			v.Type.Span = &ir.Span{Scope: ir.ScopeBlock, Dist: v.Type.Span.Dist, Extent: []*ir.Value{nil, nil}}
		}, "2 extents"},
		{"no body", func(k *ir.Kernel) { k.Body = nil }, "body is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := sample(t)
			c.spoil(k)
			err := ir.Verify(k)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
		})
	}
}
