package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// overflow is the error of a kernel whose buffers do not fit, at the pipeline or the tile that takes most: what would help,
// with its numbers, and the table.
func overflow(s *state, l *lives) error {
	largest := slices.MaxFunc(s.out.Shared, func(a, b *thr.SharedBuf) int { return cmp.Compare(l.weight(a), l.weight(b)) })
	at, pipe := l.origins[largest].pos, l.origins[largest].pipe
	what := fmt.Sprintf("%s takes %d; make it smaller", largest.Name, largest.Bytes)
	switch {
	case pipe != nil:
		at = pipe.Pos
		what = fmt.Sprintf("the %s of this pipeline take %d; %s", ir.Count(pipe.Stages, "stage"), l.weight(largest), l.fewerStages(s, pipe))
	case len(s.k.Pipelines) > 0:
		if fewer := l.fewerStages(s, nil); strings.HasPrefix(fewer, "use") {
			what += ", or " + fewer
		}
	}
	var rows []string
	for _, b := range s.out.Shared {
		rows = append(rows, fmt.Sprintf("%s (%s) has %d, lives %d-%d", b.Name, b.Note, b.Bytes, b.First, b.Last))
	}
	return positioned(ir.ErrTarget, at, "the kernel takes %d bytes of shared memory and %s has %d a block, of which %s%s, or leave the target out with tile.Targets: %s",
		s.out.SharedBytes, s.t.Name, s.t.Shared, what, l.withBarriers(s), strings.Join(rows, "; "))
}

// weight is what a buffer takes, with all of its pipeline.
func (l *lives) weight(b *thr.SharedBuf) int {
	p := l.origins[b].pipe
	if p == nil {
		return b.Bytes
	}
	n := 0
	for _, o := range l.bufs {
		if l.origins[o].pipe == p {
			n += o.Bytes
		}
	}
	return n
}

// leastStages is the fewest stages of a pipeline: one slot that is read, one that is filled.
const leastStages = 2

// fewerStages says with how many stages the kernel fits: the most of one pipeline alone, or else the most that all may
// have. here is the pipeline at whose line this is said.
func (l *lives) fewerStages(s *state, here *ir.Pipeline) string {
	takes := func(stages map[*ir.Pipeline]int) int {
		_, n := l.choose(s, l.sizes(stages))
		return n
	}
	var ways []string
	most := 0
	for _, p := range s.k.Pipelines {
		most = max(most, p.Stages)
		for n := p.Stages - 1; n >= leastStages; n-- {
			bytes := takes(map[*ir.Pipeline]int{p: n})
			if bytes > s.t.Shared {
				continue
			}
			where := ""
			if p != here {
				where = fmt.Sprintf(" in the pipeline of %s", p.Pos)
			}
			ways = append(ways, fmt.Sprintf("use %d stages%s, with which it takes %d", n, where, bytes))
			break
		}
	}
	if ways != nil {
		return strings.Join(ways, ", or ")
	}
	for n := most - 1; n >= leastStages; n-- {
		stages := map[*ir.Pipeline]int{}
		for _, p := range s.k.Pipelines {
			stages[p] = min(n, p.Stages)
		}
		switch bytes := takes(stages); {
		case bytes <= s.t.Shared:
			return fmt.Sprintf("use at most %d stages in each pipeline, with which it takes %d", n, bytes)
		case n == leastStages:
			return fmt.Sprintf("with %d, the least, the kernel takes %d; make the tiles smaller", n, bytes)
		}
	}
	return "that is the least; make the tiles smaller"
}

// withBarriers says which buffers would share bytes if the block met between their uses, where the kernel fits then.
func (l *lives) withBarriers(s *state) string {
	offsets, bytes := l.place(l.sizes(nil), func(a, b int) bool { return l.needed[a].has(b) })
	if bytes > s.t.Shared {
		return ""
	}
	var pairs []string
	for a, x := range l.bufs {
		for b, y := range l.bufs[:a] {
			if l.apart[a].has(b) && offsets[a] < offsets[b]+y.Bytes && offsets[b] < offsets[a]+x.Bytes {
				pairs = append(pairs, y.Name+" and "+x.Name)
			}
		}
	}
	return fmt.Sprintf(", or put a block.Sync() between the uses of %s, which then share bytes and take %d", strings.Join(pairs, ", of "), bytes)
}
