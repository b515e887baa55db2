//go:build !gotilegen

package optest

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// remoteCases are the cases of what reaches beyond a block's own threads: other blocks of its cluster, the asynchronous
// proxy, the kernels before and after it.
func remoteCases() []tiletest.Case {
	var out []tiletest.Case
	for _, c := range []struct {
		t     dtype.Type
		chunk int
	}{{dtype.F32, piecesF32}, {dtype.BF16, piecesBF16}, {dtype.I32, piecesI32}, {dtype.I64, piecesI64}} {
		out = append(out, opCase(ir.CopyAsync, "pieces/"+c.t.String(), func(r run) error {
			return checkTwice(r, c.t, c.chunk, 5*c.chunk+8, func(s *device.Stream, x, y device.Tensor) error {
				return launchPieces(s, piecesParams{X: x, Y: y})
			})
		}))
	}
	add := func(t dtype.Type, ops ...ir.Op) {
		for _, op := range ops {
			out = append(out, opCase(op, "pass/"+t.String(), func(r run) error { return checkPass(r, t) }))
		}
	}
	add(dtype.F32, ir.StoreAsync, ir.MBarArriveAt)
	add(dtype.I64, ir.StoreAsync, ir.MBarArriveAt)
	add(dtype.U32, ir.StoreAsync, ir.MBarArriveAt, ir.FenceCluster)
	for _, t := range []dtype.Type{dtype.F32, dtype.I64} {
		for _, op := range []ir.Op{ir.BroadcastAsync, ir.MBarArriveAll} {
			out = append(out, opCase(op, "tell/"+t.String(), func(r run) error { return checkTell(r, t) }))
		}
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		out = append(out, opCase(ir.FenceAsyncGlobal, "refetch/"+t.String(), func(r run) error { return checkRefetch(r, t) }))
	}
	return append(out, opCase(ir.LaunchDependents, "chain", checkDependent), opCase(ir.WaitPrerequisites, "chain", checkDependent))
}

// checkPass tries groups of rows that end within a cluster, and several a cluster.
func checkPass(r run, t dtype.Type) error {
	for _, l := range []lie{{1, 1, 0, 0}, {4, passCap, 0, 0}, {7, passCap - 1, 3, 1}, {403, 33, 0, 0}, {1000, 64, 0, 0}} {
		xs := r.Ints(-9, 9, uint64(l.n), l.rows*l.n)
		want := make([]int, len(xs))
		for i, x := range xs {
			if t == dtype.U32 {
				xs[i] += 9
				x = xs[i]
			}
			want[i] = 2 * int(x)
		}
		p := passParams{X: l.input(r, t, xs), Y: l.output(r, t)}
		if err := launchPass(r.Stream, p); err != nil {
			return err
		}
		ints(r, "rows passed on, "+l.String(), p.Y, want)
	}
	return nil
}

// checkTell tries rows that some blocks have nothing of, one row, and many a cluster.
func checkTell(r run, t dtype.Type) error {
	for _, l := range []lie{{1, 1, 0, 0}, {3, tellPart + 1, 0, 0}, {7, tellSize * tellPart, 3, 1}, {2000, 200, 0, 0}} {
		xs, want := r.Ints(-9, 9, uint64(l.n), l.rows*l.n), make([]int, l.rows)
		for i, x := range xs {
			want[i/l.n] += int(x)
		}
		x := l.input(r, t, xs)
		p := tellParams{X: x, Y: r.Out(t, l.rows)}
		if err := launchTell(r.Stream, p); err != nil {
			return err
		}
		ints(r, "sums, "+l.String(), p.Y, want)
	}
	return nil
}

func checkRefetch(r run, t dtype.Type) error {
	vec := 16 / t.Size()
	for _, l := range []lie{{1, vec, 0, 0}, {3, refetchChunk, 0, 0}, {300, refetchChunk - vec, vec, vec}, {5, 4*refetchChunk + vec, 0, 2 * vec}} {
		xs := r.Ints(-9, 9, uint64(l.n), l.rows*l.n)
		once, twice := make([]int, len(xs)), make([]int, len(xs))
		for i, x := range xs {
			once[i], twice[i] = 2*int(x), 4*int(x)
		}
		p := refetchParams{X: l.input(r, t, xs), T: l.output(r, t), Y: l.output(r, t)}
		if err := launchRefetch(r.Stream, p); err != nil {
			return err
		}
		ints(r, "what is read again, "+l.String(), p.T, once)
		ints(r, "twice that, "+l.String(), p.Y, twice)
	}
	return nil
}

// checkDependent launches a chain of kernels, each of which reads what the one ahead of it wrote.
func checkDependent(r run) error {
	const chain = 5
	for _, n := range []struct{ rows, n int }{{1, 1}, {3, dependentCap}, {2000, 511}} {
		xs, ws := r.Ints(-9, 9, 1, n.rows*n.n), r.Ints(-9, 9, 2, n.n)
		w := r.In(dtype.I32, ws, n.n)
		from := r.In(dtype.I32, xs, n.rows, n.n)
		var all []device.Tensor
		for range chain {
			to := r.Out(dtype.I32, n.rows, n.n)
			all = append(all, to)
		}
		for _, to := range all {
			if err := launchDependent(r.Stream, dependentParams{X: from, Y: to, W: w}); err != nil {
				return err
			}
			from = to
		}
		for k, to := range all {
			want := make([]int, len(xs))
			for i, x := range xs {
				want[i] = int(x) + (k+1)*int(ws[i%n.n])
			}
			ints(r, "sums", to, want)
		}
	}
	return nil
}
