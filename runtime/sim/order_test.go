//go:build !gotilegen

package sim_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/sim"
)

// Kernels whose blocks communicate come in pairs: the right one is silent under every seed, the same with its orders
// dropped or with one barrier less is reported.

// lowered is the thread IR of a committed kernel.
func lowered(t *testing.T, name string) *thr.Kernel {
	t.Helper()
	k, err := optest.Kernels().Build(name)
	if err != nil {
		t.Fatal(err)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	return low
}

// edit replaces statements, innermost first; f returns what stands in the place of one.
func edit(body []thr.Stmt, f func(thr.Stmt) []thr.Stmt) []thr.Stmt {
	var out []thr.Stmt
	for _, s := range body {
		switch t := s.(type) {
		case thr.For:
			t.Body = edit(t.Body, f)
			s = t
		case thr.If:
			t.Then, t.Else = edit(t.Then, f), edit(t.Else, f)
			s = t
		}
		out = append(out, f(s)...)
	}
	return out
}

// withoutSync drops the i-th barrier of a kind, in program order; false where it has less.
func withoutSync(k *thr.Kernel, fn thr.Fn, i int) bool {
	n := 0
	k.Body = edit(k.Body, func(s thr.Stmt) []thr.Stmt {
		if d, ok := s.(thr.Do); ok && d.Fn == fn {
			if n++; n == i+1 {
				return nil
			}
		}
		return []thr.Stmt{s}
	})
	return n > i
}

// relax drops the orders of a kernel.
func relax(k *thr.Kernel) {
	k.Body = edit(k.Body, func(s thr.Stmt) []thr.Stmt {
		switch t := s.(type) {
		case thr.Load:
			t.Order = ir.Relaxed
			s = t
		case thr.Store:
			t.Order = ir.Relaxed
			s = t
		case thr.Do:
			t.Order = ir.Relaxed
			s = t
		}
		return []thr.Stmt{s}
	})
}

// runOrdered runs a kernel on zeroed buffers of 64 KB: 9 rows of 125, 4 blocks, groups of 2, a row a block for op_mail.
func runOrdered(t *testing.T, k *thr.Kernel, seed uint64) *sim.Errors {
	t.Helper()
	p, err := sim.Compile(k)
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 4
	value := map[string]uint64{"rows": 9, "n": 125, "blocks": blocks, "groups": 2, "size": 2, "clusters": blocks / 2}
	if k.Name == "op_mail" {
		value["rows"] = blocks
	}
	mem, args := sim.NewMemory(false), make([]byte, k.ArgBytes)
	for _, a := range k.Args {
		v, known := value[a.Name]
		switch {
		case a.Kind == thr.ArgPointer:
			if v, err = mem.Alloc(1 << 16); err != nil {
				t.Fatal(err)
			}
			b, _ := mem.Bytes(v, 1<<16)
			clear(b)
		case a.Kind == thr.ArgStride: // aligned: op_cluster_last copies asynchronously
			v = 128
		case !known:
			t.Fatalf("argument %s", a.Name)
		}
		if a.Kind == thr.ArgPointer || a.Kind == thr.ArgStride {
			binary.LittleEndian.PutUint64(args[a.Offset:], v)
		} else {
			binary.LittleEndian.PutUint32(args[a.Offset:], uint32(v))
		}
	}
	_, err = p.Run(context.Background(), mem, blocks, args, sim.Options{Seed: seed, GlobalRaces: true})
	var e *sim.Errors
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return e
}

var orderedKernels = []string{"op_last_block", "op_tree", "op_mail", "op_cluster_last"}

func TestOrdersAreSilent(t *testing.T) {
	for _, name := range orderedKernels {
		for seed := range uint64(16) {
			if e := runOrdered(t, lowered(t, name), seed); e != nil {
				t.Errorf("%s, seed %d: %v", name, seed, e)
			}
		}
	}
}

func TestRelaxedIsReported(t *testing.T) {
	for _, name := range orderedKernels {
		k, seen := lowered(t, name), false
		relax(k)
		for seed := range uint64(16) {
			e := runOrdered(t, k, seed)
			if e == nil {
				continue
			}
			seen = true
			for _, r := range e.Reports {
				if r.Kind != sim.GlobalRace || !r.Pos.Known() || !r.Other.Known() {
					t.Errorf("%s, seed %d: %v", name, seed, r)
				}
			}
		}
		if !seen {
			t.Errorf("%s without its orders is silent", name)
		}
	}
}

// Each barrier of these kernels is needed, before a release, after an acquire, around the shared result, but for the
// two that op_mail's author wrote between accesses of different scopes.
func TestDroppedBarrierIsReported(t *testing.T) {
	for _, name := range orderedKernels {
		for _, fn := range []thr.Fn{thr.BlockSync, thr.WarpSync, thr.ClusterSync} {
			for i := 0; ; i++ {
				k := lowered(t, name)
				if name == "op_mail" && fn == thr.BlockSync && i > 1 {
					break
				}
				if !withoutSync(k, fn, i) {
					if i == 0 && (fn == thr.BlockSync || fn == thr.WarpSync && name == "op_mail" || fn == thr.ClusterSync && name == "op_cluster_last") {
						t.Errorf("%s has no %v", name, fn)
					}
					break
				}
				seen := false
				for seed := range uint64(16) {
					e := runOrdered(t, k, seed)
					seen = seen || e != nil && (e.Has(sim.GlobalRace) || e.Has(sim.Race) || e.Has(sim.NotRunning))
				}
				if !seen {
					t.Errorf("%s without %v %d is silent", name, fn, i)
				}
			}
		}
	}
}
