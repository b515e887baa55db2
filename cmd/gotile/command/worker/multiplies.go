package worker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// multiplies names the instructions by which a kernel multiplies matrices, with their shapes and types, from thread IR,
// and from tile IR what stands behind products of other types than those of 16 bits: the accuracy, and operands that come
// from shared memory by plain loads or through a copy. A dash: it has no such products.
//
//	wgmma m64n256k16 bf16
//	mma.sync m16n8k8 tf32: TF32x3, operands by plain loads
func multiplies(body []thr.Stmt, kernel *ir.Kernel) string {
	var found []string
	thr.Each(body, func(s thr.Stmt) {
		if d, ok := s.(thr.Do); ok {
			if name := instruction(d); name != "" && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	})
	if found == nil {
		return "-"
	}
	slices.Sort(found)
	text := strings.Join(found, ", ")
	if ways := ways(kernel.Body); len(ways) > 0 {
		text += ": " + strings.Join(ways, ", ")
	}
	return text
}

func (s *source) multiplies() string { return multiplies(s.Kernel.Body, s.kernel.IR()) }

// instruction is the name of a multiply with its shape; empty: the statement is none.
func instruction(d thr.Do) string {
	depth := func(bytes int) string { return fmt.Sprintf("k%d %s", bytes/d.DT.Size(), tensorType(d.DT)) }
	switch {
	case d.Fn.Warpgroup(): // 64 rows, 32 bytes of k
		perRegister := 1
		if d.Frags[0].Local.Type.DT == dtype.U32 { // f16 in pairs
			perRegister = 2
		}
		return fmt.Sprintf("wgmma m64n%d", d.Frags[0].N*perRegister*4*32/64) + depth(32)
	case d.Fn == thr.MMASync: // A is 16 rows, in words of 32 lanes
		return "mma.sync m16n8" + depth(d.Frags[1].N*4*32/16)
	}
	return ""
}

// tensorType is a type as tensor cores take it.
func tensorType(t dtype.Type) string {
	if t == dtype.F32 {
		return "tf32"
	}
	return t.String()
}

// ways are the accuracies of a kernel's MMAs, and how their operands leave shared memory where matrix loads and
// descriptors do not serve.
func ways(body *ir.Region) []string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	ir.EachOp(body, func(v *ir.Value) {
		i, ok := v.Attr.(*ir.MMAInfo)
		if !ok || i.DT.Is16() {
			return
		}
		if name := accuracies[i.Accuracy]; name != "" {
			add(name)
		}
		_, a, b := v.Operands()
		if i.A == nil && plainlyLoaded(a[0]) || i.B == nil && plainlyLoaded(b[0]) {
			add("operands by plain loads")
		}
		if i.Staged() {
			add("B through a copy")
		}
	})
	slices.Sort(out)
	return out
}

var accuracies = map[int]string{1: "TF32", ir.TF32Cut: "TF32Cut", 3: "TF32x3"}

// plainlyLoaded reports whether a tile comes from shared memory, as it was loaded or computed element by element.
func plainlyLoaded(x *ir.Value) bool {
	for x.Op == ir.Fill || x.Op == ir.Transpose || ir.Table[x.Op].Class == ir.Elementwise {
		x = x.Args[0]
	}
	a, ok := x.Attr.(*ir.Access)
	return ok && x.Op == ir.Load && a.Shared != nil
}
