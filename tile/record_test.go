package tile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
)

// node is a random program: a leaf stores, the others hold a body.
type node struct {
	kind  string // store, range, if, while, var, shared
	kids  []node
	count *int // times the body ran
}

func genNode(depth int) *rapid.Generator[node] {
	return rapid.Custom(func(t *rapid.T) node {
		kinds := []string{"store", "var", "shared"}
		if depth > 0 {
			kinds = []string{"store", "var", "shared", "range", "if", "while"}
		}
		n := node{kind: rapid.SampledFrom(kinds).Draw(t, "kind"), count: new(int)}
		if n.kind == "range" || n.kind == "if" || n.kind == "while" {
			n.kids = rapid.SliceOfN(genNode(depth-1), 0, 3).Draw(t, "kids")
		}
		return n
	})
}

func (n node) record(k *tile.Builder, a wrongArgs, i tile.Index) {
	*n.count++
	body := func(i tile.Index) {
		for _, kid := range n.kids {
			kid.record(k, a, i)
		}
	}
	switch n.kind {
	case "store":
		tile.Store(k, a.S.At(i.RemInt(128)), i.Float().Add(a.Eps))
	case "var":
		v := tile.NewVar(k, i.Int())
		v.Set(v.Get().Add(tile.I32(1)))
	case "shared":
		s := tile.NewShared[tile.F32](k, 4)
		tile.Store(k, s.At(1), a.Eps)
	case "range":
		for j := range tile.Range(k, i, 64, 1) {
			body(j)
		}
	case "if":
		tile.If(k, i.GtInt(3), func() { body(i) })
	case "while":
		v := tile.NewVar(k, i.Int())
		tile.While(k, func() tile.Reg[tile.Bool] { return v.Get().Lt(tile.I32(9)) }, func() { body(i) })
	}
}

// visits checks that a node at loop depth d ran d+1 times, and counts its ops and shared tiles.
func (n node) visits(t *rapid.T, depth int) (stores, shared int) {
	if *n.count != depth+1 {
		t.Fatalf("%s at loop depth %d ran %d times, want %d", n.kind, depth, *n.count, depth+1)
	}
	if n.kind == "range" || n.kind == "while" {
		depth++
	}
	for _, kid := range n.kids {
		s, h := kid.visits(t, depth)
		stores, shared = stores+s, shared+h
	}
	switch n.kind {
	case "store":
		stores++
	case "shared":
		stores, shared = stores+1, shared+1
	}
	return stores, shared
}

func countOps(r *ir.Region, op ir.Op, ids map[int]int) int {
	n := 0
	if r == nil {
		return 0
	}
	if r.Ind != nil {
		ids[r.Ind.ID]++
	}
	for _, v := range r.Ops {
		ids[v.ID]++
		if v.Op == op {
			n++
		}
		for _, in := range v.Regions {
			n += countOps(in, op, ids)
		}
	}
	return n
}

// TestRandomNests records random nested loops: each body at depth d runs d+1 times, the kernel holds it once, IDs are
// dense (the second recordings roll back), and the kernel verifies.
func TestRandomNests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfN(genNode(4), 1, 4).Draw(t, "nodes")
		k, err := tile.Define("nest", func(k *tile.Builder, a wrongArgs) {
			for _, n := range nodes {
				n.record(k, a, a.X.Dim(0))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		wantStores, wantShared := 0, 0
		for _, n := range nodes {
			s, h := n.visits(t, 0)
			wantStores, wantShared = wantStores+s, wantShared+h
		}
		ids := map[int]int{}
		if got := countOps(k.IR().Body, ir.Store, ids); got != wantStores {
			t.Fatalf("%d stores, want %d\n%v", got, wantStores, k)
		}
		if got := len(k.IR().Shared); got != wantShared {
			t.Fatalf("%d shared tiles, want %d", got, wantShared)
		}
		for id := range len(ids) {
			if ids[id] != 1 {
				t.Fatalf("ID %d occurs %d times\n%v", id, ids[id], k)
			}
		}
	})
}

// TestRandomHostState plants a counter that the body carries along at a random place; it is always found.
func TestRandomHostState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfN(genNode(3), 0, 3).Draw(t, "nodes")
		depth := rapid.IntRange(1, 4).Draw(t, "depth")
		after := rapid.Bool().Draw(t, "after")
		_, err := tile.Define("state", func(k *tile.Builder, a wrongArgs) {
			n := 0
			var nest func(d int, i tile.Index)
			nest = func(d int, i tile.Index) {
				for j := range tile.Range(k, 0, i, 1) {
					if !after {
						for _, m := range nodes {
							m.record(k, a, j)
						}
					}
					if d > 1 {
						nest(d-1, j)
					} else {
						tile.Store(k, a.S.At(n), tile.F32(0))
						n++
					}
					if after {
						for _, m := range nodes {
							m.record(k, a, j)
						}
					}
				}
			}
			nest(depth, a.X.Dim(0))
		})
		if !errors.Is(err, tile.ErrControl) || !strings.Contains(fmt.Sprint(err), "host state carried") {
			t.Fatalf("not found: %v", err)
		}
		var es tile.Errors
		if errors.As(err, &es); len(es) != 1 {
			t.Fatalf("%d errors for one mistake:\n%v", len(es), es)
		}
	})
}
