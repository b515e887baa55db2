package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// blockSum sums n f32 a block: shuffles within warps, shared memory across them, the total stored once a block.
func blockSum(threads, each int) *thr.Kernel {
	in, out := pointer("in", tF), pointer("out", tF)
	x, s, part, i := local("x", tF), local("s", tF), local("part", tF), local("i", tI)
	butterfly := func(l *thr.Local) []thr.Stmt {
		var b []thr.Stmt
		for m := 16; m > 0; m /= 2 {
			b = append(b, thr.Assign{At: at(), Dst: ref(l), Src: op(ir.Add, ref(l), call(thr.ShflXor, ref(l), i32(m)))})
		}
		return b
	}
	base := op(ir.Mul, bid, i32(threads*each))
	body := []thr.Stmt{declare(s, cf32(0)), declare(x, nil),
		thr.For{At: at(), Var: i, Lo: i32(0), Hi: i32(each), Step: i32(1), Body: []thr.Stmt{
			loadGlobal(at(), x, in, op(ir.Add, base, op(ir.Add, tid, op(ir.Mul, ref(i), i32(threads))))),
			thr.Assign{At: at(), Dst: ref(s), Src: op(ir.Fma, ref(x), ref(x), ref(s))},
		}}}
	body = append(body, butterfly(s)...)
	body = append(body,
		thr.Store{At: at(), Space: thr.Shared, Value: ref(s), Bytes: 4, Addr: sharedAt(warpID, 4), Pred: op(ir.Eq, lane, i32(0))},
		barrier(at()),
		declare(part, cf32(0)),
		thr.Load{At: at(), Space: thr.Shared, Dst: part, Bytes: 4, Addr: sharedAt(lane, 4), Pred: op(ir.Lt, lane, i32(threads/32))})
	body = append(body, butterfly(part)...)
	body = append(body, thr.Store{At: at(), Space: thr.Global, Value: ref(part), Bytes: 4, Addr: index(arg(out), bid), Pred: op(ir.Eq, tid, i32(0))})
	return kernel(threads, threads/8, []*thr.Arg{in, out}, body...)
}

// Results, reports and statistics without races depend neither on the seed nor on the number of workers.
func TestSeedsAndWorkers(t *testing.T) {
	const threads, each, grid = 256, 4, 37
	m := NewMemory(false)
	in, a := output(t, m, 4*threads*each*grid)
	for i := range threads * each * grid {
		binary.LittleEndian.PutUint32(a[4*i:], math.Float32bits(float32(i%7-3)))
	}
	out, b := output(t, m, 4*grid)
	k := blockSum(threads, each)
	var first []byte
	var stats Stats
	for seed := range uint64(5) {
		for _, workers := range []int{1, 2, 5} {
			clear(b)
			s, e := run(t, k, m, grid, words(in, out), Options{Seed: seed, Workers: workers})
			silent(t, e)
			if first == nil {
				first, stats = bytes.Clone(b), s
			}
			if !bytes.Equal(first, b) || s.LaneOps != stats.LaneOps || s.BankPasses != stats.BankPasses {
				t.Fatalf("seed %d, %d workers: results or statistics differ: %+v, %+v", seed, workers, s, stats)
			}
		}
	}
	for i := range grid {
		want := float32(0)
		for j := range threads * each {
			x := float32((i*threads*each+j)%7 - 3)
			want += float32(x * x)
		}
		if got := math.Float32frombits(u32s(b)[i]); got != want { // small integers: exact in any order
			t.Fatalf("block %d: %g, want %g", i, got, want)
		}
	}
	if stats.Blocks != grid || stats.Warps != grid*8 || stats.LaneOps < grid*threads*each {
		t.Fatalf("%+v", stats)
	}
}

// The seed permutes blocks and warps; a float atomic shows the order of blocks.
func TestSeedPermutes(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 17, 64, 1000} {
		orders := map[string]bool{}
		for seed := range uint64(6) {
			seen, f := make([]bool, n), permutation(n, seed)
			var order []int
			for i := range n {
				j := f(i)
				if j < 0 || j >= n || seen[j] {
					t.Fatalf("n = %d, seed %d: %d comes twice or is no block", n, seed, j)
				}
				seen[j] = true
				order = append(order, j)
			}
			orders[fmt.Sprint(order)] = true
		}
		if n >= 17 && len(orders) != 6 {
			t.Fatalf("n = %d: %d orders from 6 seeds", n, len(orders))
		}
	}
	// old values of an atomic counter: the order of blocks and of warps
	ticket, out := pointer("ticket", tI), pointer("out", tI)
	x := local("x", tI)
	dst := ref(x)
	k := kernel(128, 0, []*thr.Arg{ticket, out}, declare(x, i32(-1)),
		thr.Do{At: at(), Fn: thr.AtomicAdd, Dst: &dst, DT: tI, Args: []thr.Expr{arg(ticket), i32(1)}, Pred: op(ir.Eq, lane, i32(3))},
		thr.Store{At: at(), Space: thr.Global, Value: ref(x), Bytes: 4, Addr: index(arg(out), op(ir.Add, op(ir.Mul, bid, i32(4)), warpID)), Pred: op(ir.Eq, lane, i32(3))})
	results := map[string]bool{}
	for seed := range uint64(6) {
		var last string
		for range 2 {
			m := NewMemory(false)
			ta, tb := output(t, m, 4)
			clear(tb)
			oa, ob := output(t, m, 4*4*8)
			_, e := run(t, k, m, 8, words(ta, oa), Options{Seed: seed})
			silent(t, e)
			s := fmt.Sprint(u32s(ob))
			if last != "" && last != s {
				t.Fatalf("seed %d gave two orders", seed)
			}
			last = s
			if u32s(tb)[0] != 32 {
				t.Fatalf("the counter ended at %d", u32s(tb)[0])
			}
			seen := map[uint32]bool{}
			for _, x := range u32s(ob) {
				seen[x] = x < 32
			}
			if len(seen) != 32 {
				t.Fatalf("tickets %s", s)
			}
		}
		results[last] = true
	}
	if len(results) < 5 {
		t.Fatalf("6 seeds gave %d orders", len(results))
	}
}

// A warp may spin on what another warp of its block does.
func TestSpinningWarp(t *testing.T) {
	flag, x := pointer("flag", tI), local("x", tI)
	dst := ref(x)
	poll := thr.Do{At: at(), Fn: thr.AtomicCAS, Dst: &dst, DT: tI, Args: []thr.Expr{arg(flag), i32(1), i32(2)}, Pred: op(ir.Eq, lane, i32(0))}
	got := thr.Call{Fn: thr.ShflIdx, R: tI, Args: []thr.Expr{ref(x), i32(0)}}
	k := kernel(64, 0, []*thr.Arg{flag}, declare(x, i32(0)),
		thr.If{At: at(), Cond: op(ir.Eq, warpID, i32(0)),
			Then: []thr.Stmt{thr.While{At: at(), Head: []thr.Stmt{poll}, Cond: op(ir.Ne, got, i32(1))}},
			Else: []thr.Stmt{thr.Do{At: at(), Fn: thr.AtomicExch, DT: tI, Args: []thr.Expr{arg(flag), i32(1)}, Pred: op(ir.Eq, lane, i32(0))}}})
	for seed := range uint64(6) {
		m := NewMemory(false)
		a, b := output(t, m, 4)
		clear(b)
		_, e := run(t, k, m, 1, words(a), Options{Seed: seed})
		silent(t, e)
		if u32s(b)[0] != 2 {
			t.Fatalf("the flag is %d", u32s(b)[0])
		}
	}
}

func TestAtomics(t *testing.T) {
	for _, c := range []struct {
		fn     thr.Fn
		dt     dtype.Type
		start  uint64
		value  func(l int) uint64
		result uint64
	}{
		{thr.AtomicAdd, tI, 5, func(l int) uint64 { return uint64(uint32(int32(l - 20))) }, 0xffffff75},
		{thr.AtomicAdd, tU, 1 << 31, func(l int) uint64 { return 1 << 27 }, 1 << 31}, // 32 times 2^27 is 2^32
		{thr.AtomicAdd, tQ, 1 << 40, func(l int) uint64 { return uint64(l) }, 1<<40 + 496},
		{thr.AtomicMax, tI, 0xffffff9c, func(l int) uint64 { return uint64(uint32(int32(-l - 3))) }, 0xfffffffd},
		{thr.AtomicMax, tU, 7, func(l int) uint64 { return uint64(0xfffffff0 - l) }, 0xfffffff0},
		{thr.AtomicMin, tI, 9, func(l int) uint64 { return uint64(uint32(int32(4 - l))) }, 0xffffffe5},
		{thr.AtomicMin, tU, 9, func(l int) uint64 { return uint64(0xffffffff - l) }, 9},
		{thr.AtomicMax, tQ, 1 << 63, func(l int) uint64 { return uint64(int64(l) - 40) }, ^uint64(8)},
		{thr.AtomicExch, tF, 0x3f800000, func(l int) uint64 { return uint64(math.Float32bits(float32(l))) }, uint64(math.Float32bits(31))},
		{thr.AtomicAdd, tF, 0, func(l int) uint64 { return uint64(math.Float32bits(float32(l))) }, uint64(math.Float32bits(496))},
		{thr.AtomicAdd, tF, 1, func(l int) uint64 { return 1 }, 0}, // subnormals are flushed
	} {
		t.Run(fmt.Sprint(c.fn, c.dt), func(t *testing.T) {
			p, in := pointer("p", c.dt), pointer("in", c.dt)
			x := local("x", c.dt)
			m := NewMemory(false)
			a, b := output(t, m, 8)
			i, v := output(t, m, 32*c.dt.Size())
			setWord(b, c.dt.Size(), c.start)
			for l := range 32 {
				setWord(v[l*c.dt.Size():], c.dt.Size(), c.value(l))
			}
			_, e := run(t, kernel(32, 0, []*thr.Arg{p, in}, declare(x, nil), loadGlobal(at(), x, in, lane),
				thr.Do{At: at(), Fn: c.fn, DT: c.dt, Args: []thr.Expr{arg(p), ref(x)}}), m, 1, words(a, i), Options{})
			silent(t, e)
			if got := word(b, c.dt.Size()); got != c.result {
				t.Fatalf("%#x, want %#x", got, c.result)
			}
		})
	}
}

func TestBankConflicts(t *testing.T) {
	for _, c := range []struct {
		bytes, stride int // of each lane
		extra         int64
	}{
		{4, 4, 0}, {4, 8, 1}, {4, 12, 0}, {4, 128, 31}, {4, 132, 0}, {2, 2, 0}, {2, 4, 0}, {2, 64, 15},
		{8, 8, 0}, {8, 16, 2}, {16, 16, 0}, {16, 32, 4}, {16, 128, 28}, {16, 144, 0},
	} {
		x := array("x", tU, 4)
		s := thr.Store{At: at(), Space: thr.Shared, Src: x, Index: i32(0), Bytes: c.bytes, Addr: sharedAt(lane, c.stride)}
		st, e := run(t, kernel(32, 32*c.stride, nil, declare(x, nil), s), NewMemory(false), 1, nil, Options{})
		silent(t, e)
		if st.BankPasses != c.extra {
			t.Errorf("%d bytes every %d: %d more passes, want %d", c.bytes, c.stride, st.BankPasses, c.extra)
		}
		if c.extra > 0 && (len(st.Banks) != 1 || st.Banks[0].Pos.Frame().Line != line(s) || st.Banks[0].Accesses != 1 || st.Banks[0].Extra != c.extra) {
			t.Errorf("%d bytes every %d: %+v", c.bytes, c.stride, st.Banks)
		}
	}
}
