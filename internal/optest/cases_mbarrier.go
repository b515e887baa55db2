//go:build !gotilegen

package optest

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// mbarrierCases run each kernel as a case of all the ops in it.
func mbarrierCases() []tiletest.Case {
	var out []tiletest.Case
	add := func(variant string, check func(r run) error, ops ...ir.Op) {
		for _, op := range ops {
			out = append(out, opCase(op, variant, check))
		}
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		add("exchange/"+t.String(), func(r run) error {
			return checkTwice(r, t, exchangeCap, 0, func(s *device.Stream, x, y device.Tensor) error { return launchExchange(s, exchangeParams{X: x, Y: y}) })
		}, ir.MBarInit, ir.MBarArrive, ir.MBarWait, ir.MBarInval)
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.I64} {
		add("relay/"+t.String(), func(r run) error {
			return checkTwice(r, t, relayChunk, 5*relayChunk+7, func(s *device.Stream, x, y device.Tensor) error { return launchRelay(s, relayParams{X: x, Y: y}) })
		}, ir.MBarInit, ir.MBarArrive, ir.MBarWait, ir.MBarTest)
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		add("hand_over/"+t.String(), func(r run) error {
			return checkTwice(r, t, relayChunk, 5*relayChunk+7, func(s *device.Stream, x, y device.Tensor) error {
				return launchHandOver(s, handOverParams{X: x, Y: y})
			})
		}, ir.NamedSync, ir.NamedArrive)
		add("copies/"+t.String(), func(r run) error {
			return checkTwice(r, t, trackChunk, 5*trackChunk+8, func(s *device.Stream, x, y device.Tensor) error {
				return launchTrack(s, trackParams{X: x, Y: y})
			})
		}, ir.MBarTrack)
	}
	add("poll/i32", func(r run) error {
		return checkTwice(r, dtype.I32, pollCap, 0, func(s *device.Stream, x, y device.Tensor) error { return launchPoll(s, pollParams{X: x, Y: y}) })
	}, ir.MBarInit, ir.MBarArrive, ir.MBarTest, ir.MBarTry)
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		add("ring/"+t.String(), func(r run) error { return checkBulk(r, t) },
			ir.MBarInit, ir.MBarArrive, ir.MBarArriveTx, ir.MBarExpectTx, ir.MBarWait, ir.CopyBulk, ir.StoreBulk, ir.CommitBulk, ir.WaitBulk, ir.WaitBulkRead, ir.FenceAsync)
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		add("twice/"+t.String(), func(r run) error { return checkOverwrite(r, t) }, ir.StoreBulk, ir.CommitBulk, ir.WaitBulk)
	}
	return out
}

// checkTwice compares y with 2x on rows of up to n columns, or more of them where a kernel takes them in chunks of n.
func checkTwice(r run, t dtype.Type, n, most int, launch func(s *device.Stream, x, y device.Tensor) error) error {
	for _, l := range []lie{{1, 1, 0, 0}, {4, n, 0, 0}, {1500, 8, 0, 0}, {7, n - 1, 3, 1}, {3, 33, 0, 0}, {2, max(n, most), 0, 0}, {1, max(n, 3*n*min(most, 1)), 5, 0}} {
		xs := r.Ints(-9, 9, uint64(l.n), l.rows*l.n)
		want := make([]int, len(xs))
		for i, x := range xs {
			want[i] = 2 * int(x)
		}
		x, y := l.input(r, t, xs), l.output(r, t)
		if err := launch(r.Stream, x, y); err != nil {
			return err
		}
		ints(r, "twice "+l.String(), y, want)
	}
	return nil
}

// checkOverwrite compares y with 2x on rows of whole vectors, shorter and longer than a chunk.
func checkOverwrite(r run, t dtype.Type) error {
	vec := 16 / t.Size()
	for _, l := range []lie{{1, vec, 0, 0}, {3, overwriteChunk, 0, 0}, {300, overwriteChunk - vec, vec, vec}, {5, 4*overwriteChunk + vec, 0, 2 * vec}} {
		xs := r.Ints(-9, 9, uint64(l.n), l.rows*l.n)
		want := make([]int, len(xs))
		for i, x := range xs {
			want[i] = 2 * int(x)
		}
		p := overwriteParams{X: l.input(r, t, xs), Y: l.output(r, t)}
		if err := launchOverwrite(r.Stream, p); err != nil {
			return err
		}
		ints(r, "twice "+l.String(), p.Y, want)
	}
	return nil
}

// checkBulk tries every trip count from 1 to past the stages, several rows a block, and ragged ends of whole vectors.
func checkBulk(r run, t dtype.Type) error {
	vec := 16 / t.Size()
	for _, l := range []lie{{1, vec, 0, 0}, {3, bulkChunk, 0, 0}, {300, bulkChunk - vec, vec, vec}, {2, bulkHalf, 0, 0}, {2, 2*bulkChunk + vec, 0, 0},
		{5, bulkStages * bulkChunk, 0, 0}, {2, (bulkStages + 1) * bulkChunk, 0, 2 * vec}, {1, 9*bulkChunk + bulkHalf + vec, 0, 0}} {
		xs, ws := r.Ints(0, 9, 1, l.rows*l.n), r.Ints(0, 9, 2, l.n)
		p := bulkParams{X: l.input(r, t, xs), Y: l.output(r, t), W: r.In(t, ws, l.n)}
		if err := launchBulk(r.Stream, p); err != nil {
			return err
		}
		want := make([]int, len(xs))
		for i, x := range xs {
			want[i] = int(x + ws[i%l.n])
		}
		ints(r, "sums of "+l.String(), p.Y, want)
	}
	return nil
}
