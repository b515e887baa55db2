package viz

import (
	"fmt"
	"strings"
)

// Plan is a kernel's shared memory: what lies where, and when it is used.
type Plan struct {
	Kernel, Target string
	Bytes, Limit   int // of a block
	Buffers        []Buffer
	Steps          []Step
	Loops          []Band
	Files          []string // that the lines of the steps are in
}

// Buffer is a range of shared memory.
type Buffer struct {
	Name, Type, Note string
	Offset, Bytes    int
	First, Last      int // stretches between barriers of the block in which it lives
}

// Step is a statement, or several of one line in a row, or a barrier.
type Step struct {
	Line    int    // of Go; 0: unknown
	Stretch int    // that it belongs to, a barrier to the one before it
	Barrier string // the text of a barrier; empty: an access
	Uses    map[int]string
}

// The marks of a Step's uses, by buffer, and of barriers.
const (
	markRead, markWrite, markCopy   = "r", "w", "c"
	markBlock, markCluster, markGet = "|", "||", "?"
)

// DrawPlan shows a buffer a row, a step of the program a column, and in the cells what the step does with the buffer,
// coloured in the stretches between barriers in which it lives.
func DrawPlan(p *Plan) (*Picture, error) {
	out := &Picture{Title: "shared memory of " + p.Kernel + " for " + p.Target}
	if len(p.Buffers) == 0 {
		out.Notes = []string{"none: the kernel uses no shared memory"}
		return out, nil
	}
	if err := checkCells("the plan of "+p.Kernel, len(p.Buffers), len(p.Steps)); err != nil {
		return nil, err
	}
	lines := "lines of Go"
	if len(p.Files) > 0 {
		lines = "lines of " + strings.Join(p.Files, ", ")
	}
	out.Notes = []string{
		fmt.Sprintf("%d of %d bytes a block. Columns are what the program does, in order: %s. Coloured, or =: the buffer lives, by stretches between barriers of the block.", p.Bytes, p.Limit, lines),
		fmt.Sprintf("%s writes, %s reads, %s copies to it asynchronously; %s waits for copies, %s is a barrier of the block, %s of the cluster.",
			markWrite, markRead, markCopy, markGet, markBlock, markCluster)}
	q := &Panel{Cells: grid(len(p.Buffers), len(p.Steps)), Bands: p.Loops}
	name := len("buffer")
	for _, b := range p.Buffers {
		name = max(name, len(b.Name))
	}
	q.Corner = fmt.Sprintf("%8s %8s  %-4s  %-*s", "offset", "size", "type", name, "buffer")
	for i, b := range p.Buffers {
		q.Rows = append(q.Rows, fmt.Sprintf("%8d %8d  %-4s  %-*s", b.Offset, b.Bytes, b.Type, name, b.Name))
		if b.Note != "" {
			out.Footer = append(out.Footer, b.Name+": "+b.Note)
		}
		for s, step := range p.Steps {
			if b.First <= step.Stretch && step.Stretch <= b.Last {
				q.Cells[i][s].Color = colorOf(4 * i)
			}
			if q.Cells[i][s].Text = step.Uses[i]; step.Barrier != "" {
				q.Cells[i][s].Text = step.Barrier
			}
			if q.Cells[i][s].Text == "" && q.Cells[i][s].Color != None {
				q.Cells[i][s].Text = "="
			}
		}
	}
	for _, s := range p.Steps {
		label := ""
		if s.Line > 0 && s.Barrier == "" {
			label = fmt.Sprint(s.Line)
		}
		q.Cols = append(q.Cols, label)
	}
	out.Panels = []*Panel{q}
	return out, nil
}
