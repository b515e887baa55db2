//go:build !gotilegen

package sim_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/sim"
)

// ringKernels stream rows of f32 through shared memory; their arguments are those of op_ring_f32.
var ringKernels = []string{"op_ring_f32", "op_ping_pong_f32"}

var completions = map[string]sim.Completion{"by seed": sim.BySeed, "early": sim.Early, "late": sim.Late, "random": sim.AtRandom}

// runRing runs a ring on 2 rows of m of 256 ones and returns the sums of the rows, as bits.
func runRing(t *testing.T, k *thr.Kernel, m int, o sim.Options) ([2]uint32, *sim.Errors) {
	t.Helper()
	p, err := sim.Compile(k)
	if err != nil {
		t.Fatal(err)
	}
	const rows, n = 2, 256
	mem, args := sim.NewMemory(true), make([]byte, k.ArgBytes)
	var sums []byte
	for _, a := range k.Args {
		switch a.Name {
		case "x", "y", "s":
			v, err := mem.Alloc(4 * rows * n)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := mem.Bytes(v, 4*rows*n)
			for i := 0; i < len(b); i += 4 {
				binary.LittleEndian.PutUint32(b[i:], 0x3f800000)
			}
			if a.Name == "s" {
				sums = b
			}
			binary.LittleEndian.PutUint64(args[a.Offset:], v)
		case "x_stride0", "y_stride0":
			binary.LittleEndian.PutUint64(args[a.Offset:], n)
		case "m":
			binary.LittleEndian.PutUint32(args[a.Offset:], uint32(m))
		case "n":
			binary.LittleEndian.PutUint32(args[a.Offset:], n)
		case "rows":
			binary.LittleEndian.PutUint32(args[a.Offset:], rows)
		default:
			t.Fatalf("argument %s", a.Name)
		}
	}
	_, err = p.Run(context.Background(), mem, 1, args, o)
	var e *sim.Errors
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return [2]uint32{binary.LittleEndian.Uint32(sums), binary.LittleEndian.Uint32(sums[4:])}, e
}

// Copies may arrive at any time: the results are the same, and nothing is reported.
func TestCopiesAreSilent(t *testing.T) {
	for _, name := range ringKernels {
		k := lowered(t, name)
		for when, c := range completions {
			for seed := range uint64(8) {
				sums, e := runRing(t, k, 256, sim.Options{Seed: seed, Copies: c, GlobalRaces: true})
				if e != nil || sums != [2]uint32{0x43800000, 0x43800000} { // 256
					t.Errorf("%s, %s, seed %d: sums %#x, %v", name, when, seed, sums, e)
				}
			}
		}
	}
}

// Without one wait, commit or barrier there is a report of both lines, whenever the copies arrive.
func TestDroppedWaitIsReported(t *testing.T) {
	for _, name := range ringKernels {
		for _, fn := range []thr.Fn{thr.CpWait, thr.CpCommit, thr.BlockSync} {
			for i := 0; ; i++ {
				k := lowered(t, name)
				if !withoutSync(k, fn, i) {
					if i == 0 {
						t.Errorf("%s has no %v", name, fn)
					}
					break
				}
				for when, c := range completions {
					seen := map[sim.Kind]bool{}
					for seed := range uint64(4) {
						_, e := runRing(t, k, 256, sim.Options{Seed: seed, Copies: c})
						if e == nil {
							continue
						}
						for _, r := range e.Reports {
							seen[r.Kind] = true
							if !r.Pos.Known() || (r.Kind == sim.InFlight || r.Kind == sim.Race) && !r.Other.Known() {
								t.Errorf("%s without %v %d: %v", name, fn, i, r)
							}
						}
					}
					switch {
					case fn == thr.BlockSync && seen[sim.Race], fn != thr.BlockSync && (seen[sim.InFlight] || seen[sim.NotAwaited]):
					default:
						t.Errorf("%s without %v %d, copies %s: %v", name, fn, i, when, seen)
					}
				}
			}
		}
	}
}

// What a copy reads before it arrives is poison when it is late, and there when it is early.
func TestCopyArrives(t *testing.T) {
	k := lowered(t, "op_ping_pong_f32")
	k.Body = edit(k.Body, func(s thr.Stmt) []thr.Stmt {
		if d, ok := s.(thr.Do); ok && d.Fn == thr.CpWait {
			return nil
		}
		return []thr.Stmt{s}
	})
	early, e := runRing(t, k, 256, sim.Options{Copies: sim.Early})
	if e == nil || !e.Has(sim.InFlight) || !e.Has(sim.NotAwaited) || early[0] != 0x43800000 {
		t.Errorf("early: sum %#x, %v", early, e)
	}
	late, e := runRing(t, k, 256, sim.Options{Copies: sim.Late})
	if e == nil || late[0]&0x7f800000 != 0x7f800000 {
		t.Errorf("late: sum %#x, %v", late, e)
	}
}
