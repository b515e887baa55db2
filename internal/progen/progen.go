// Package progen makes random programs in the public language: a Program is drawn by rapid, recorded as a kernel by
// tile.Define, given random inputs, and run on a device or by the oracle. What Define accepts must compile for all its
// targets, and mean the same to the oracle, the simulator and a GPU, bit by bit.
//
// All numbers are small integers, so that every float result is exact and no order of a sum matters: the recorder
// clamps operands whose result could have more digits than its type. Programs are free of races by construction: each
// unit of the program's scope works on a batch element of its own.
package progen

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
)

// A Kind is a shape of values; all values of a kind have one span.
type Kind int

// The kinds.
const (
	Matrix Kind = iota
	Other       // of Matrix's shape, spread in another way
	Rows        // one value a row: what a reduction over axis 1 gives
	Cols        // one value a column
	Vector      // as long as Cols, striped over the scope by itself
	Single
	kinds
)

func (k Kind) String() string {
	return [...]string{"matrix", "other", "rows", "cols", "vector", "single"}[k]
}

// A Step is one statement. A, B, C and Op are taken modulo what there is to choose from.
type Step struct {
	Do         string
	Second     bool // on the values of the second type
	Kind       Kind
	Op         int
	A, B, C    int
	Body, Else []Step
}

func (s Step) String() string {
	side := ""
	if s.Second {
		side = "'"
	}
	out := fmt.Sprintf("%s%s %v op%d (%d %d %d)", s.Do, side, s.Kind, s.Op, s.A, s.B, s.C)
	if s.Body != nil {
		out += fmt.Sprintf(" {%s}", text(s.Body))
	}
	if s.Else != nil {
		out += fmt.Sprintf(" else {%s}", text(s.Else))
	}
	return out
}

func text(steps []Step) string {
	var s []string
	for _, x := range steps {
		s = append(s, x.String())
	}
	return strings.Join(s, "; ")
}

// The scopes of a program.
const (
	Warp    = "warp"
	Block   = "block"
	Cluster = "cluster"
)

// The loops around a program.
const (
	Once       = "once"       // no loop: one unit of the scope
	Persistent = "persistent" // the units share the batch
	EachBlock  = "each"       // a block (cluster) for each element of the batch
)

// The ends of a program's spans.
const (
	Whole   = "whole"   // the buffer ends them
	Clipped = "clipped" // at the dimensions
	Short   = "short"   // at the smaller of a dimension and a constant
	Half    = "half"    // at half the dimensions, rounded up
)

// Program is a random program and its launch.
type Program struct {
	T, U          dtype.Type // of its two sets of values
	Scope, Loop   string
	Threads       int // of a block
	Cluster       int // blocks; 0: none
	Rows, Cols    int // capacities
	Vec, Across   int // Matrix's distribution
	Vec2, Across2 int // Other's; Vec2 is Vector's, too
	Ends          string
	Steps         []Step

	M, N, Batch int // the dimensions at the launch
	Units       int // of the scope's blocks or clusters in the grid
	Pad         int // elements between the rows of tensors
	Shift       int // elements by which tensors begin after an aligned address
	Salt        int // of the data
}

func (p Program) String() string {
	return fmt.Sprintf("%v %v, %s %s, %d threads, cluster %d, %dx%d vec %d,%d across %d,%d %s; launch %dx%d batch %d units %d pad %d shift %d salt %d\n  %s",
		p.T, p.U, p.Scope, p.Loop, p.Threads, p.Cluster, p.Rows, p.Cols, p.Vec, p.Vec2, p.Across, p.Across2, p.Ends,
		p.M, p.N, p.Batch, p.Units, p.Pad, p.Shift, p.Salt, strings.ReplaceAll(text(p.Steps), "; ", "\n  "))
}

// Grid is the number of blocks of the launch.
func (p Program) Grid() int { return p.Units * max(1, p.Cluster) }

// Slots of the arguments.
const (
	Inputs = 3 // matrices to load
	Slots  = 4 // of each output: two for either of the kinds that share it
	Peers  = 8 // blocks of the largest cluster
	Trips  = 4 // numbers of iterations, in memory
)

// Count is the number of fixed programs that are verified.
const Count = 500
