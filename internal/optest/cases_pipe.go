//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// pipeCases run each kernel as a case of all the ops in it.
func pipeCases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		for _, op := range []ir.Op{ir.PipeInit, ir.SlotAcquire, ir.SlotWait, ir.SlotRelease, ir.Roles, ir.GroupID, ir.SetMaxRegs} {
			out = append(out, opCase(op, "pipe/"+t.String(), func(r run) error { return checkPipe(r, t) }))
		}
		out = append(out, opCase(ir.CopyAsync, "pipe/"+t.String(), func(r run) error { return checkPipe(r, t) }),
			opCase(ir.CopyAsync, "pipe_threads/"+t.String(), func(r run) error { return checkPipeThreads(r, t) }))
		for _, op := range []ir.Op{ir.CopyAsync, ir.CopyTensor, ir.SlotAcquire, ir.SlotWait} {
			out = append(out, opCase(op, "pipe_tensor/"+t.String(), func(r run) error { return checkPipeTensor(r, t) }))
		}
		for _, op := range []ir.Op{ir.PipeInit, ir.SlotAcquire, ir.SlotWait, ir.SlotRelease, ir.Roles, ir.StoreTensor} {
			out = append(out, opCase(op, "lcsf/"+t.String(), func(r run) error { return checkLCSF(r, t) }))
		}
	}
	return append(out, opCase(ir.Elect, "i32", checkElect))
}

// checkPipeThreads has every trip count from 1 to past the stages with slots that cp.async fills, as targets without bulk
// copies have them: rows are aligned, and end within a vector.
func checkPipeThreads(r run, t dtype.Type) error {
	var lies []lie
	for trips := 1; trips <= 2*pipeStages+1; trips++ {
		lies = append(lies, lie{3, trips*pipeChunk - 1, 1, 0})
	}
	return checkPipeOf(r, t, lies)
}

// checkPipe tries every trip count from 1 to past the stages, several rows a block, ragged ends, and tensors that bulk
// copies and cp.async cannot copy.
func checkPipe(r run, t dtype.Type) error {
	vec := 16 / t.Size()
	return checkPipeOf(r, t, []lie{{1, vec, 0, 0}, {3, pipeChunk, 0, 0}, {300, pipeChunk - vec, vec, vec}, {2, (pipeStages - 1) * pipeChunk, 0, 0}, {2, pipeStages * pipeChunk, 0, 0},
		{2, (pipeStages + 1) * pipeChunk, 0, 2 * vec}, {1, 7*pipeChunk + pipeHalf + vec, 0, 0}, {3, pipeHalf - 1, vec + 1, 0}, {2, 4*pipeChunk + 3, 2, 1}})
}

func checkPipeOf(r run, t dtype.Type, lies []lie) error {
	for _, l := range lies {
		xs, ws := r.Ints(0, 9, 1, l.rows*l.n), r.Ints(0, 9, 2, l.n)
		p := pipeParams{X: l.input(r, t, xs), Y: l.output(r, t), W: r.In(t, ws, l.n)}
		if err := launchPipe(r.Stream, p); err != nil {
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

// checkPipeTensor tries fewer tiles than stages and more, ragged ends on both sides, gaps behind rows, and tensors that
// tensor copies cannot read: an address or a stride that is no multiple of 16 bytes.
func checkPipeTensor(r run, t dtype.Type) error {
	vec := 16 / t.Size()
	round := lie{8 * pipeStages * pipeTensorRows, 2 * pipeTensorCols, 0, 0} // on the simulator, twice as many tiles a block as stages
	for _, l := range []lie{round, {pipeTensorRows, pipeTensorCols, 0, 0}, {3 * pipeTensorRows, 2 * pipeTensorCols, vec, vec}, {5*pipeTensorRows + 3, 3*pipeTensorCols + vec, 0, 0},
		{1, vec, 0, 0}, {37, pipeTensorCols + 3, vec - 3, 0}, {37, 2*pipeTensorCols + 1, 0, 0}, {20, 2 * pipeTensorCols, 0, 1}, {2, 3, 2, 3}} {
		xs, ws := r.Ints(0, 9, 1, l.rows*l.n), r.Ints(0, 9, 2, l.rows*l.n)
		p := pipeTensorParams{X: l.input(r, t, xs), W: l.input(r, t, ws), Y: r.Out(t, l.rows, l.n)}
		if err := launchPipeTensor(r.Stream, p); err != nil {
			return err
		}
		want := make([]int, len(xs))
		for i, x := range xs {
			want[i] = int(x + ws[i])
		}
		ints(r, "sums of "+l.String(), p.Y, want)
	}
	return nil
}

// checkLCSF tries one chunk and many, ragged rows and columns, and a tensor that tensor copies cannot read.
func checkLCSF(r run, t dtype.Type) error {
	vec := 16 / t.Size()
	for _, l := range []lie{{lcsfRows, lcsfCols, 0, 0}, {1, vec, 0, 0}, {5*lcsfRows + 3, 3*lcsfCols + vec, vec, 0}, {40, 9 * lcsfCols, 0, vec}, {19, 2*lcsfCols + vec, 0, 1}} {
		xs := r.Ints(-3, 3, 1, l.rows*l.n)
		shape := []int{l.rows, l.n}
		p := lcsfParams{
			X:    l.input(r, t, xs),
			Y:    r.Place(tiletest.Spec{Role: tiletest.Output, DType: t, Shape: shape, Strides: padded(t, shape, 1)}),
			Sums: r.Out(t, l.rows),
		}
		if err := launchLcsf(r.Stream, p); err != nil {
			return err
		}
		want, sums := make([]int, len(xs)), make([]int, l.rows)
		for i, x := range xs {
			want[i] = 2 * int(x)
			sums[i/l.n] += 2 * int(x)
		}
		ints(r, "twice "+l.String(), p.Y, want)
		ints(r, "sums of "+l.String(), p.Sums, sums)
	}
	return nil
}

// checkElect sees that one lane is elected, and that it has its element.
func checkElect(r run) error {
	const rows = 7
	var xs []float64
	var want []int
	for i := range rows {
		for range 32 {
			xs = append(xs, float64(i+5))
		}
		want = append(want, i+5, 1)
	}
	p := electParams{X: r.In(dtype.I32, xs, rows, 32), S: r.Out(dtype.I32, rows, 2)}
	if err := launchElect(r.Stream, p); err != nil {
		return err
	}
	ints(r, fmt.Sprint("elected lanes of ", rows, " rows"), p.S, want)
	return nil
}
