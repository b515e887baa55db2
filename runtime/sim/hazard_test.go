package sim

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Each hazard comes as a pair: the right program is silent, the same program without one thing is reported.

// without drops a statement.
func without(body []thr.Stmt, i int) []thr.Stmt {
	return append(append([]thr.Stmt{}, body[:i]...), body[i+1:]...)
}

// trial runs a kernel whose arguments are buffers of 4096 bytes under several seeds, which must agree on whether there
// is a report.
func trial(t *testing.T, k *thr.Kernel, grid int) *Errors {
	t.Helper()
	m := NewMemory(false)
	var args []uint64
	for range k.Args {
		a, _ := output(t, m, 4096)
		args = append(args, a)
	}
	var first *Errors
	for seed := range uint64(8) {
		_, e := run(t, k, m, grid, words(args...), Options{Seed: seed})
		if seed == 0 {
			first = e
		} else if (e == nil) != (first == nil) {
			t.Fatalf("seed %d: %v\nseed 0: %v", seed, e, first)
		}
	}
	return first
}

func TestRaceAcrossWarps(t *testing.T) {
	x, out := local("x", tI), pointer("out", tI)
	store := storeShared(at(), tid, tid)
	load := loadShared(at(), x, op(ir.Rem, op(ir.Add, tid, i32(32)), i32(128)))
	body := []thr.Stmt{declare(x, nil), store, barrier(at()), load, storeGlobal(at(), out, tid, ref(x))}
	silent(t, trial(t, kernel(128, 512, []*thr.Arg{out}, body...), 1))

	m := NewMemory(false)
	o, _ := output(t, m, 512)
	racy := kernel(128, 512, []*thr.Arg{out}, without(body, 2)...)
	seen := map[Kind]bool{}
	for seed := range uint64(8) {
		_, e := run(t, racy, m, 1, words(o), Options{Seed: seed})
		if e == nil {
			t.Fatalf("seed %d: no report", seed)
		}
		for _, r := range e.Reports {
			seen[r.Kind] = true
			if r.Kind == Race {
				lines := [2]int{r.Pos.Frame().Line, r.Other.Frame().Line}
				if lines != [2]int{line(store), line(load)} && lines != [2]int{line(load), line(store)} {
					t.Fatalf("lines %v of %s", lines, r)
				}
			}
		}
	}
	if !seen[Race] || !seen[Uninitialised] { // who comes first depends on the seed
		t.Fatalf("kinds seen: %v", seen)
	}
}

func TestRaceInOneWarp(t *testing.T) {
	x, out := local("x", tI), pointer("out", tI)
	store := storeShared(at(), lane, lane)
	load := loadShared(at(), x, op(ir.Xor, lane, i32(1)))
	body := []thr.Stmt{declare(x, nil), store, warpSync(at()), load, storeGlobal(at(), out, lane, ref(x))}
	silent(t, trial(t, kernel(32, 128, []*thr.Arg{out}, body...), 1))
	e := trial(t, kernel(32, 128, []*thr.Arg{out}, without(body, 2)...), 1)
	r := want(t, e, Race, line(load), line(store))
	if r.Count != 32 || r.Warp != 0 || !strings.Contains(r.Detail, "byte 4, not ordered after the store of shared memory of warp 0 lane 1") {
		t.Fatal(r)
	}
}

func TestRaceWriteAfterRead(t *testing.T) {
	x, out := local("x", tI), pointer("out", tI)
	load := loadShared(at(), x, i32(0)) // all lanes of both warps read it
	again := thr.Store{At: at(), Space: thr.Shared, Value: i32(7), Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, tid, i32(0))}
	body := []thr.Stmt{declare(x, nil),
		thr.Store{At: at(), Space: thr.Shared, Value: i32(3), Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, tid, i32(0))},
		barrier(at()), load, storeGlobal(at(), out, tid, ref(x)), barrier(at()), again}
	silent(t, trial(t, kernel(64, 4, []*thr.Arg{out}, body...), 1))
	for seed := range uint64(8) {
		m := NewMemory(false)
		o, _ := output(t, m, 256)
		_, e := run(t, kernel(64, 4, []*thr.Arg{out}, without(body, 5)...), m, 1, words(o), Options{Seed: seed})
		if e == nil || !e.Has(Race) || e.Has(Uninitialised) {
			t.Fatalf("seed %d: %v", seed, e)
		}
	}
}

func TestRaceWriteWrite(t *testing.T) {
	one := thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, lane, i32(0))}
	silent(t, trial(t, kernel(32, 4, nil, one), 1))
	want(t, trial(t, kernel(64, 4, nil, one), 1), Race, line(one), line(one))
	all := thr.Store{At: at(), Space: thr.Shared, Value: i32(1), Bytes: 4, Addr: u32(0)} // one value, still a race
	want(t, trial(t, kernel(32, 4, nil, all), 1), Race, line(all), line(all))
}

// Different bytes of one word are no race, whatever else accesses the word.
func TestRaceGranule(t *testing.T) {
	x, out := local("x", tU), pointer("out", tI)
	half := thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 2, Addr: sharedAt(tid, 2)}
	load := thr.Load{At: at(), Space: thr.Shared, Dst: x, Bytes: 4, Addr: sharedAt(tid, 4), Pred: op(ir.Lt, tid, i32(32))}
	body := []thr.Stmt{declare(x, nil), half, barrier(at()), load, storeGlobal(at(), out, tid, ref(x))}
	silent(t, trial(t, kernel(64, 128, []*thr.Arg{out}, body...), 1))
	overlap := thr.Store{At: half.At, Space: thr.Shared, Value: tid, Bytes: 2, Addr: sharedAt(op(ir.Div, tid, i32(2)), 2)}
	want(t, trial(t, kernel(64, 128, nil, overlap), 1), Race, line(overlap), line(overlap))
}

// A read by every warp keeps a record for each: the barrier that only some see must not hide the others.
func TestRaceManyReaders(t *testing.T) {
	x, y := local("x", tI), local("y", tI)
	init := thr.Store{At: at(), Space: thr.Shared, Value: i32(3), Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, tid, i32(0))}
	read := loadShared(at(), x, op(ir.Sub, lane, lane))
	over := thr.Store{At: at(), Space: thr.Shared, Value: i32(4), Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, tid, i32(5))}
	final := loadShared(at(), y, op(ir.Sub, lane, lane))
	body := []thr.Stmt{declare(x, nil), declare(y, nil), init, barrier(at()), read, barrier(at()), over, barrier(at()), final}
	silent(t, trial(t, kernel(256, 4, nil, body...), 2))
	for _, drop := range []int{3, 5, 7} {
		if e := trial(t, kernel(256, 4, nil, without(body, drop)...), 1); e == nil {
			t.Fatalf("nothing reported without statement %d", drop)
		}
	}
}

func TestUninitialisedShared(t *testing.T) {
	x, out := local("x", tI), pointer("out", tI)
	load := loadShared(at(), x, tid)
	body := []thr.Stmt{declare(x, nil), storeShared(at(), tid, tid), load, storeGlobal(at(), out, tid, ref(x))}
	silent(t, trial(t, kernel(64, 256, []*thr.Arg{out}, body...), 1))
	want(t, trial(t, kernel(64, 256, []*thr.Arg{out}, without(body, 1)...), 1), Uninitialised, line(load), 0)
	// Half of a word is not enough.
	half := thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 2, Addr: sharedAt(tid, 4)}
	want(t, trial(t, kernel(64, 256, nil, declare(x, nil), half, load), 1), Uninitialised, line(load), 0)
}

func TestBarrierDivergence(t *testing.T) {
	// Warp 1 does not come.
	lonely := barrier(at())
	some := thr.If{At: at(), Cond: op(ir.Eq, warpID, i32(0)), Then: []thr.Stmt{lonely}}
	silent(t, trial(t, kernel(32, 0, nil, some), 1))
	r := want(t, trial(t, kernel(64, 0, nil, some), 1), BarrierDivergence, line(lonely), 0)
	if !strings.Contains(r.Detail, "warp 0 waits here, warp 1 has left the kernel") {
		t.Fatal(r)
	}
	// The two warps come to different barriers.
	one := barrier(at())
	other := barrier(at())
	split := thr.If{At: at(), Cond: op(ir.Eq, warpID, i32(0)), Then: []thr.Stmt{one}, Else: []thr.Stmt{other}}
	want(t, trial(t, kernel(64, 0, nil, split), 1), BarrierDivergence, line(one), line(other))
	both := thr.If{At: at(), Cond: op(ir.Lt, warpID, i32(9)), Then: []thr.Stmt{one}, Else: []thr.Stmt{other}}
	silent(t, trial(t, kernel(64, 0, nil, both), 1))
}

func TestNonUniform(t *testing.T) {
	i := local("i", tI)
	for name, s := range map[string][2]thr.Stmt{
		"if": {
			thr.If{At: at(), Cond: op(ir.Lt, lane, i32(32))}, thr.If{At: at(), Cond: op(ir.Lt, lane, i32(31))}},
		"for": {
			thr.For{At: at(), Var: i, Lo: i32(0), Hi: op(ir.Div, lane, i32(32)), Step: i32(1)},
			thr.For{At: at(), Var: i, Lo: i32(0), Hi: op(ir.Div, lane, i32(31)), Step: i32(1)}},
		"while": {
			thr.While{At: at(), Cond: op(ir.Lt, lane, i32(0))}, thr.While{At: at(), Cond: op(ir.Eq, lane, i32(5))}},
	} {
		t.Run(name, func(t *testing.T) {
			silent(t, trial(t, kernel(32, 0, nil, s[0]), 1))
			want(t, trial(t, kernel(32, 0, nil, s[1]), 1), NonUniform, line(s[1]), 0)
		})
	}
}

func TestBadShuffle(t *testing.T) {
	x := local("x", tI)
	get := func(a thr.At, from thr.Expr) thr.Stmt {
		return thr.Decl{At: a, Local: x, Init: thr.Call{Fn: thr.ShflIdx, R: tI, Args: []thr.Expr{tid, from}}}
	}
	silent(t, trial(t, kernel(32, 0, nil, get(at(), op(ir.Sub, i32(31), lane))), 1))
	bad := get(at(), op(ir.Sub, i32(30), lane))
	r := want(t, trial(t, kernel(32, 0, nil, bad), 1), BadShuffle, line(bad), 0)
	if r.Lane != 31 || r.Count != 1 {
		t.Fatal(r)
	}
}

func TestGlobalBounds(t *testing.T) {
	out := pointer("out", tI)
	k := func(s thr.Stmt) *thr.Kernel { return kernel(64, 0, []*thr.Arg{out}, s) }
	m := NewMemory(false)
	addr, b := output(t, m, 4*100)
	good := storeGlobal(at(), out, op(ir.Add, tid, i32(36)), tid)
	_, e := run(t, k(good), m, 1, words(addr), Options{})
	silent(t, e)
	bad := storeGlobal(at(), out, op(ir.Add, tid, i32(37)), tid)
	_, e = run(t, k(bad), m, 1, words(addr), Options{})
	r := want(t, e, OutOfBounds, line(bad), 0)
	if r.Warp != 1 || r.Lane != 31 || r.Count != 1 || !strings.Contains(r.Detail, "0 bytes past the end of the allocation of 400 bytes") {
		t.Fatal(r)
	}
	if got := u32s(b); got[99] != 62 || got[37] != 0 {
		t.Fatalf("the lanes in bounds stored %d, %d", got[37], got[99])
	}
	before := storeGlobal(at(), out, op(ir.Sub, tid, i32(1)), tid)
	_, e = run(t, k(before), m, 1, words(addr), Options{})
	if r := want(t, e, OutOfBounds, line(before), 0); !strings.Contains(r.Detail, "4 bytes before the allocation") || r.Lane != 0 {
		t.Fatal(r)
	}
	odd := storeGlobal(at(), out, tid, tid)
	_, e = run(t, k(odd), m, 1, words(addr+2), Options{})
	want(t, e, Misaligned, line(odd), 0)
	_, e = run(t, k(good), m, 1, words(0), Options{})
	want(t, e, OutOfBounds, line(good), 0)
	if err := m.Free(addr); err != nil {
		t.Fatal(err)
	}
	_, e = run(t, k(good), m, 1, words(addr), Options{})
	if r := want(t, e, OutOfBounds, line(good), 0); !strings.Contains(r.Detail, "freed allocation of 400 bytes") {
		t.Fatal(r)
	}
}

// Blocks that write, or read and write, the same memory are reported on request.
func TestGlobalRaces(t *testing.T) {
	x, p := local("x", tI), pointer("p", tI)
	own := op(ir.Add, op(ir.Mul, bid, i32(32)), lane)
	write := storeGlobal(at(), p, own, tid)
	read := loadGlobal(at(), x, p, own)
	same := storeGlobal(at(), p, lane, tid)
	next := loadGlobal(at(), x, p, op(ir.Add, own, i32(1)))
	check := func(on bool, body ...thr.Stmt) *Errors {
		m := NewMemory(false)
		a, _ := output(t, m, 1024)
		_, e := run(t, kernel(32, 0, []*thr.Arg{p}, append([]thr.Stmt{declare(x, nil)}, body...)...), m, 3, words(a), Options{GlobalRaces: on, Workers: 1})
		return e
	}
	silent(t, check(true, write, read, write))
	silent(t, check(true, next, next))
	silent(t, check(false, same))
	want(t, check(true, same), GlobalRace, line(same), line(same))
	for _, body := range [][]thr.Stmt{{write, next}, {next, write}} {
		e := check(true, body...)
		if e == nil {
			t.Fatal("no report")
		}
		for _, r := range e.Reports {
			a, b := r.Pos.Frame().Line, r.Other.Frame().Line
			if r.Kind != GlobalRace || min(a, b) != line(write) || max(a, b) != line(next) {
				t.Fatal(r)
			}
		}
	}
}

func TestSharedBounds(t *testing.T) {
	good := storeShared(at(), tid, tid)
	silent(t, trial(t, kernel(64, 256, nil, good), 1))
	want(t, trial(t, kernel(64, 252, nil, good), 1), OutOfBounds, line(good), 0)
	odd := thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: op(ir.Add, sharedAt(tid, 4), u32(2))}
	want(t, trial(t, kernel(64, 512, nil, odd), 1), Misaligned, line(odd), 0)
}

func TestUninitialisedGlobal(t *testing.T) {
	x, in := local("x", tI), pointer("in", tI)
	load := loadGlobal(at(), x, in, tid)
	body := []thr.Stmt{declare(x, nil), storeGlobal(at(), in, tid, tid), load}
	for _, track := range []bool{true, false} {
		m := NewMemory(track)
		addr, err := m.Alloc(128)
		if err != nil {
			t.Fatal(err)
		}
		k := kernel(32, 0, []*thr.Arg{in}, without(body, 1)...)
		_, e := run(t, k, m, 1, words(addr), Options{})
		if track {
			want(t, e, Uninitialised, line(load), 0)
		} else {
			silent(t, e)
		}
		if b, err := m.Bytes(addr, 124); err != nil || len(b) != 124 { // the host fills in all but one
			t.Fatal(err)
		}
		_, e = run(t, k, m, 1, words(addr), Options{})
		if track {
			if r := want(t, e, Uninitialised, line(load), 0); r.Lane != 31 || r.Count != 1 {
				t.Fatal(r)
			}
		}
		_, e = run(t, kernel(32, 0, []*thr.Arg{in}, body...), m, 1, words(addr), Options{})
		silent(t, e)
	}
}

func TestRunaway(t *testing.T) {
	x := local("x", dtype.I32)
	forever := thr.While{At: at(), Cond: op(ir.Lt, ref(x), i32(1)), Body: []thr.Stmt{thr.Assign{Dst: ref(x), Src: i32(0)}}}
	k := kernel(64, 0, nil, declare(x, i32(0)), forever, barrier(at()))
	_, e := run(t, k, NewMemory(false), 1, nil, Options{StepLimit: 1000})
	want(t, e, Runaway, line(forever), 0)
}

// TestPanicOfTwin: a panic in the function that stands for inline PTX is a report with the author's line.
func TestPanicOfTwin(t *testing.T) {
	x, y := local("x", dtype.U32), local("y", dtype.U32)
	info := &ir.AsmInfo{Template: "mov.b32 %0, %1;", Sim: func(in []uint64) uint64 { return in[in[0]] }}
	per := thr.Asm{At: at(), Info: info, Dst: ref(x), Args: []thr.Expr{cast(lane, tU)}}
	one := thr.Asm{At: at(), Info: info, Dst: ref(y), Args: []thr.Expr{u32(7)}}
	_, e := run(t, kernel(64, 0, nil, declare(x, nil), per, barrier(at())), NewMemory(false), 3, nil, Options{})
	if r := want(t, e, Panicked, line(per), 0); r.Lane != 1 || !strings.Contains(r.Detail, "index out of range [1] with length 1") || !strings.Contains(r.Detail, "mov.b32") {
		t.Error(r)
	}
	_, e = run(t, kernel(32, 0, nil, declare(y, nil), one), NewMemory(false), 1, nil, Options{})
	want(t, e, Panicked, line(one), 0)
}

func TestReportsAreCollected(t *testing.T) {
	out := pointer("out", tI)
	var body []thr.Stmt
	i := local("i", tI)
	for range 5 {
		body = append(body, thr.Store{At: at(), Space: thr.Global, Value: tid, Bytes: 4, Addr: arg(out)}) // one line: one report
	}
	loop := thr.For{At: at(), Var: i, Lo: i32(0), Hi: i32(4), Step: i32(1), Unroll: true, Body: body}
	_, e := run(t, kernel(64, 0, []*thr.Arg{out}, loop), NewMemory(false), 100, words(16), Options{Workers: 3})
	if r := want(t, e, OutOfBounds, line(body[0]), 0); r.Count != 100*64*4*5 || r.Block != 0 {
		t.Fatal(r)
	}
	two := []thr.Stmt{
		thr.Store{At: at(), Space: thr.Global, Value: tid, Bytes: 4, Addr: arg(out)},
		thr.Store{At: at(), Space: thr.Global, Value: tid, Bytes: 4, Addr: arg(out)}}
	_, e = run(t, kernel(64, 0, []*thr.Arg{out}, two...), NewMemory(false), 1, words(16), Options{MaxReports: 1})
	if len(e.Reports) != 1 || e.More != 1 || !strings.HasSuffix(e.Error(), "\nand 1 more") {
		t.Fatal(e)
	}
	s := e.Reports[0].String()
	if !strings.HasPrefix(s, "hazard_test.go:") || !strings.HasSuffix(s, ": out of bounds: 4-byte store of global memory at 0x10: there are no allocations (kernel k, block 0, warp 0, lane 0; 64 times)") {
		// the warp that runs first depends on the seed; lane and count do not
		if !strings.Contains(s, "warp 1, lane 0; 64 times)") {
			t.Fatal(s)
		}
	}
}
