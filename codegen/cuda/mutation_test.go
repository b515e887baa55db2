//go:build !gotilegen

package cuda_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// A printer is proved by the GPU: the committed .cu of a case ran there, with a receipt. So a printer that gives another
// text than the committed one turns its case red.

// program is a kernel's thread IR and its committed text, from the entry point on: the prelude is printed for what the
// text names.
type program struct {
	name      string
	low       *thr.Kernel
	committed string
}

func body(text string) string {
	_, after, _ := strings.Cut(text, `extern "C"`)
	return after
}

func printed(t *testing.T, p program) string {
	text, err := cuda.Print(p.low, cuda.Options{})
	if err != nil {
		return err.Error()
	}
	return body(text)
}

// programs finds the kernels that a case launches.
func programs(t *testing.T, c tiletest.Case) []program {
	t.Helper()
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	res := c.Exec(t.Context(), d, 1)
	if res.Err != nil {
		t.Fatalf("%s: %v", c.Name, res.Err)
	}
	var out []program
	for _, name := range res.Kernels {
		k, err := optest.Kernels().Build(name)
		if err != nil {
			t.Fatal(err)
		}
		low, err := k.Lower("sm_90a")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "internal", "optest", "cuda", name)
		text, err := os.ReadFile(path + ".cu")
		if errors.Is(err, fs.ErrNotExist) { // of several lowering sets
			text, err = os.ReadFile(path + "_" + low.Lowering + ".cu")
		}
		if err != nil {
			t.Fatal(err)
		}
		p := program{name, low, body(string(text))}
		if p.committed == "" || printed(t, p) != p.committed {
			t.Fatalf("%s.cu is stale: run go generate ./internal/optest", name)
		}
		out = append(out, p)
	}
	return out
}

func differs(t *testing.T, ps []program) bool {
	for _, p := range ps {
		if printed(t, p) != p.committed {
			return true
		}
	}
	return false
}

var operandTypes = []dtype.Type{dtype.F32, dtype.I32, dtype.U32, dtype.I64, dtype.Bool}

// The printer of another op in an op's row changes the committed text of the op's case: every op, every type, every
// other op of as many operands; in short mode one other op.
func TestSwappedPrinterTurnsItsCaseRed(t *testing.T) {
	swaps := 0
	for op := ir.Op(1); op < ir.NumOps; op++ {
		for _, typ := range operandTypes {
			var ps []program
			for other := ir.Op(1); other < ir.NumOps; other++ {
				restore, ok := cuda.ReplaceOp(op, other, typ)
				if !ok {
					continue
				}
				restore()
				if ps == nil {
					ps = programsOf(t, op, typ)
				}
				restore, _ = cuda.ReplaceOp(op, other, typ)
				red := differs(t, ps)
				restore()
				swaps++
				if !red && !samePrinting(op, other, typ) {
					t.Errorf("op/%s/%s prints as committed when %s prints as %s", op, typ, op, other)
				}
				if testing.Short() {
					break
				}
			}
		}
	}
	t.Logf("%d swaps", swaps)
	if swaps < 1000 && !testing.Short() {
		t.Errorf("only %d swaps tried", swaps)
	}
}

// programsOf are the kernels of an op's case on operands of a type.
func programsOf(t *testing.T, op ir.Op, typ dtype.Type) []program {
	for _, c := range optest.OpCases(op) {
		if strings.HasSuffix(c.Name, "/"+typ.String()) || strings.HasSuffix(c.Name, "/all") {
			return programs(t, c)
		}
	}
	t.Fatalf("no case of %s on %s", op, typ)
	return nil
}

// samePrinting lists what is one text because it is one function: what moves the bits of integers as they are.
func samePrinting(op, other ir.Op, t dtype.Type) bool {
	moves := func(o ir.Op) bool { return o == ir.Cast || o == ir.Bitcast || o == ir.Abs && t == dtype.U32 }
	return t.IsInt() && moves(op) && moves(other)
}

// The same for the built-ins of thread IR.
func TestSwappedFnPrinterTurnsItsCaseRed(t *testing.T) {
	swaps := map[thr.Fn]int{}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		if f == thr.FenceLoads {
			continue // of no case: its effect is on hardware alone
		}
		ps := programs(t, optest.FnCase(f))
		for other := thr.Fn(1); other < thr.NumFns; other++ {
			restore, ok := cuda.ReplaceFn(f, other)
			if !ok {
				continue
			}
			red := differs(t, ps)
			restore()
			swaps[f]++
			if !red {
				t.Errorf("the case of %s prints as committed when it prints as %s", f, other)
			}
		}
		if swaps[f] == 0 && f != thr.AtomicCAS && f != thr.BulkLoad && f != thr.WGMMADesc && f != thr.WGMMA { // no other of their arity
			t.Errorf("%s was never swapped", f)
		}
	}
}
