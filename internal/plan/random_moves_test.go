package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"pgregory.net/rapid"
)

// Random programs of copies, ordinary accesses and accesses of peers to the stages of shared tiles, in branches and
// loops of every trip count. Plain Go knows which of them use what is in flight: the others the planner has to take, and
// the simulator has to be silent about them and to compute what Go does.

// move is one statement. Its numbers say which tile and stage, which row of the input, or of the output where it reads;
// other is a distance between blocks, a number of groups, a width of vectors, or an offset to trip counts.
type move struct {
	do          string
	tile, stage int
	row, other  int
	looped      bool // the stage moves on with the innermost loop
	body, els   []move
}

func (m move) String() string {
	s := fmt.Sprintf("%s t%d s%d r%d o%d", m.do, m.tile, m.stage, m.row, m.other)
	if m.looped {
		s += "+i"
	}
	if m.body != nil || m.els != nil {
		s += fmt.Sprintf("{\n%v}{%v}", m.body, m.els)
	}
	return s + "\n"
}

const (
	moveCols   = 64
	moveRows   = 12  // of the input, for a block
	moveOuts   = 600 // rows of the output, for a block
	moveTrips  = 4   // trip counts 0 to 3
	moveStages = 3
	moveTiles  = 2
)

// moves is a program.
type moves struct {
	cluster int  // blocks; 0: none
	warps   bool // each warp has tiles of its own
	threads int
	list    []move
	outs    int
}

// Ops that read have rows of the output to themselves. settle is a commit and a wait for all.
func drawMoves(t *rapid.T) moves {
	num := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
	p := moves{threads: []int{32, 64, 128}[num(0, 2, "threads")]}
	doing := []string{"copy", "copy", "copy", "commit", "commit", "wait", "settle", "settle", "settle", "settle", "settle", "read", "read", "read", "write", "warps", "sum", "loop", "loop", "while", "if"}
	switch num(0, 2, "scope") {
	case 1:
		p.warps = true
		doing = slices.DeleteFunc(doing, func(s string) bool { return s == "warps" })
	case 2:
		p.cluster = 2 << num(0, 1, "cluster")
		doing = append(doing, "fetch", "fetch", "send", "send", "csum")
	}
	var draw func(n, depth int) []move
	draw = func(n, depth int) []move {
		var out []move
		for range n {
			m := move{do: rapid.SampledFrom(doing).Draw(t, "do"), tile: num(0, moveTiles-1, "tile"), stage: num(0, moveStages-1, "stage"),
				row: num(0, moveRows-1, "row"), other: num(0, 3, "other"), looped: depth < 2 && num(0, 1, "looped") == 1}
			switch m.do {
			case "settle":
				out = append(out, move{do: "commit"})
				m = move{do: "wait"}
			case "loop", "while", "if":
				if depth == 0 {
					continue
				}
				m.body = draw(num(1, 5, "body"), depth-1)
				if m.do == "if" {
					m.els = draw(num(0, 4, "else"), depth-1)
				}
			case "read", "fetch", "sum", "csum":
				m.row = p.outs
				p.outs++
			}
			out = append(out, m)
		}
		return out
	}
	p.list = draw(num(3, 12, "length"), 2)
	return p
}

// mover runs moves in Go, for all blocks in step. bad is why a run is wrong.
type mover struct {
	p           moves
	blocks      int
	n           int // columns
	trips, cond int
	x           []int64
	shared      [4][moveTiles][moveStages][moveCols]int64
	flight      [moveTiles][moveStages]int  // 0, or 1 and the number of the group
	round       [moveTiles][moveStages]bool // a loop has come round since, and no wait followed
	choose      func(n int) int             // not nil: what loops and branches do is up to it
	group       int                         // that the next commit ends
	landing     map[[2]int]int              // row
	out         []int64
	bad         string
	unsure      bool // the planner cannot know it right
}

// input is an element of a block's rows.
func (h *mover) input(rank, row, col int) int64 { return h.x[(rank*moveRows+row)*h.n+col] }

// use notes an access.
func (h *mover) use(m move, stage int) {
	if h.flight[m.tile][stage] > 0 && h.bad == "" {
		h.bad = fmt.Sprint(m, "uses what is in flight")
	}
	for s := range moveStages {
		if h.round[m.tile][s] {
			h.unsure = true
		}
	}
}

// wait ends the copies of all groups but n.
func (h *mover) wait(n int) {
	for t := range moveTiles {
		for s := range moveStages {
			f := h.flight[t][s]
			if f > 0 && f-1 < h.group {
				h.round[t][s] = false
			}
			if f > 0 && f-1 < h.group-n {
				h.flight[t][s] = 0
				for r := range h.blocks {
					h.set(r, t, s, func(c int) int64 { return h.input(r, h.landing[[2]int{t, s}], c) })
				}
			}
		}
	}
}

// set fills a stage with a row; past its end come zeros.
func (h *mover) set(rank, tile, stage int, f func(c int) int64) {
	for c := range moveCols {
		h.shared[rank][tile][stage][c] = 0
		if c < h.n {
			h.shared[rank][tile][stage][c] = f(c)
		}
	}
}

// write fills in the valid part of a stage.
func (h *mover) write(rank, tile, stage int, f func(c int) int64) {
	for c := range h.n {
		h.shared[rank][tile][stage][c] = f(c)
	}
}

// put writes a row of the output, one of those of an op: at counts the iterations of the loops around it.
func (h *mover) put(rank, row, at int, f func(c int) int64) {
	for c := range h.n {
		h.out[((rank*moveOuts)+row*moveTrips*moveTrips+at)*h.n+c] = f(c)
	}
}

// pick is how often, or where, control flow goes.
func (h *mover) pick(i, n int) int {
	if h.choose != nil {
		return h.choose(n)
	}
	return i % n
}

func (h *mover) run(list []move, i, at int) {
	for _, m := range list {
		stage := m.stage
		if m.looped {
			stage = (stage + i) % moveStages
		}
		switch m.do {
		case "copy":
			h.use(m, stage)
			h.flight[m.tile][stage], h.landing[[2]int{m.tile, stage}] = h.group+1, m.row
		case "commit":
			h.group++
		case "wait":
			h.wait(m.other)
		case "read", "sum", "fetch", "write", "send", "warps", "csum":
			h.use(m, stage)
			was := h.shared
			for r := range h.blocks {
				mine := was[r][m.tile][stage]
				next := (r + m.other) % h.blocks
				switch m.do {
				case "read":
					h.put(r, m.row, at, func(c int) int64 { return mine[c] })
				case "sum", "csum":
					var sum int64
					for q := range h.blocks {
						for c := range h.n {
							if q == r || m.do == "csum" {
								sum += was[q][m.tile][stage][c]
							}
						}
					}
					h.put(r, m.row, at, func(c int) int64 { return sum })
				case "fetch":
					h.put(r, m.row, at, func(c int) int64 { return was[next][m.tile][stage][c] })
				case "write", "warps":
					h.write(r, m.tile, stage, func(c int) int64 { return h.input(r, m.row, c) + 1 })
				case "send":
					h.write(next, m.tile, stage, func(c int) int64 { return h.input(r, m.row, c) + 2 })
				}
			}
		case "loop", "while":
			for j := range h.pick(h.trips+m.other, moveTrips) {
				for t, stages := range h.flight {
					for s, f := range stages {
						h.round[t][s] = h.round[t][s] || f > 0 && j > 0
					}
				}
				h.run(m.body, j, at*moveTrips+j)
			}
		case "if":
			if h.pick(h.cond+m.other, 2) == 1 {
				h.run(m.body, i, at)
			} else {
				h.run(m.els, i, at)
			}
		}
	}
}

// data are inputs: small numbers, negative ones among them.
func data(salt, n int) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = int64((i*7+salt*13+i*i*salt)%23 - 11)
	}
	return x
}

// play runs moves in Go.
func (p moves) play(n, trips, cond int) *mover {
	h := p.start(n, trips, cond)
	h.run(p.list, 0, 0)
	return h
}

// start is ready to run them.
func (p moves) start(n, trips, cond int) *mover {
	blocks := max(1, p.cluster)
	if p.warps {
		blocks = p.threads / 32
	}
	h := &mover{p: p, blocks: blocks, n: n, trips: trips, cond: cond, landing: map[[2]int]int{}}
	h.x = data(3, h.blocks*moveRows*n)
	h.out = make([]int64, h.blocks*moveOuts*n)
	return h
}

// check plans a program, and runs it both ways for every trip count. A program that is right on all paths is not refused.
func (p moves) check(t *rapid.T) {
	if p.outs*moveTrips*moveTrips > moveOuts {
		t.Skip()
	}
	valid := true // on paths at random, which need not go together
	for i := range 60 {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		h := p.start(moveCols, 0, 0)
		h.choose = r.IntN
		if h.run(p.list, 0, 0); h.bad != "" || h.unsure {
			valid = false
			break
		}
	}
	k, err := p.kernel()
	if err != nil {
		t.Fatalf("%+v", err)
	}
	low, err := k.Lower("sm_90a")
	if again, e := k.Lower("sm_90a"); (e == nil) != (err == nil) || err != nil && e.Error() != err.Error() || err == nil && thr.Print(again) != thr.Print(low) {
		t.Fatalf("lowered twice: %v, %v\n%v", err, e, k)
	}
	if err != nil {
		if valid {
			t.Fatalf("refused: %v\n%v", err, k)
		}
		return
	}
	for trips := range moveTrips {
		for cond := range 2 {
			n := []int{moveCols, 61, 8, 36}[(trips+2*cond)%4]
			h := p.play(n, trips, cond)
			if h.bad != "" && n%4 != 0 { // through registers: nothing is in flight
				continue
			}
			if err := p.compare(low, h, uint64(trips)); (err != nil) != (h.bad != "") {
				t.Fatalf("n %d, trips %d, cond %d: %v; in Go: %s\n%v\n%v\n%s", n, trips, cond, err, h.bad, p.list, k, thr.Print(low))
			}
		}
	}
}

// compare runs a kernel and compares what it stored with what Go did.
func (p moves) compare(low *thr.Kernel, h *mover, seed uint64) error {
	dims := map[string]int{"blocks": h.blocks, "n": h.n, "trips": h.trips, "cond": h.cond}
	in := map[string][]int64{"x": h.x, "y": make([]int64, len(h.out)), "t": make([]int64, 4), "c": make([]int64, 2)}
	got, err := launch(low, dtype.I32, in, dims, seed)
	if err != nil {
		return err
	}
	if !slices.Equal(got["y"], h.out) {
		for i := range h.out {
			if got["y"][i] != h.out[i] {
				return fmt.Errorf("y[%d][%d][%d] is %d, want %d", i/h.n/moveOuts, i/h.n%moveOuts, i%h.n, got["y"][i], h.out[i])
			}
		}
	}
	return nil
}

// TestRandomMoves draws 100 programs; -rapid.checks asks for more.
func TestRandomMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { drawMoves(t).check(t) })
}
