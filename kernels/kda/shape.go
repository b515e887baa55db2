package kda

import (
	"errors"
	"fmt"
)

// Shape is the sizes of a problem. Tensors are row-major:
//
//	q, k    [Batch, Seq, Heads, KeyDim]
//	v, o    [Batch, Seq, ValueHeads, ValueDim]
//	g       [Batch, Seq, ValueHeads, KeyDim]
//	beta    [Batch, Seq, ValueHeads]
//	states  [sequences, ValueHeads, KeyDim, ValueDim]
//
// Value head i reads the queries and keys of head i / (ValueHeads / Heads).
type Shape struct {
	Batch, Seq        int
	Heads, ValueHeads int
	KeyDim, ValueDim  int
}

// check is an error unless the sizes and the ends of packed sequences fit together.
func (s Shape) check(ends []int) error {
	switch {
	case s.Batch < 0 || s.Seq < 0:
		return fmt.Errorf("kda: %d sequences of %d tokens", s.Batch, s.Seq)
	case s.Heads < 1 || s.ValueHeads < 1 || s.ValueHeads%s.Heads != 0:
		return fmt.Errorf("kda: %d value heads for %d heads, want a multiple", s.ValueHeads, s.Heads)
	case s.KeyDim < 1 || s.ValueDim < 1:
		return fmt.Errorf("kda: a state of %d x %d", s.KeyDim, s.ValueDim)
	case ends == nil:
		return nil
	case s.Batch != 1:
		return fmt.Errorf("kda: packed sequences in a batch of %d, want 1", s.Batch)
	case len(ends) == 0 || ends[0] != 0:
		return errors.New("kda: packed sequences do not start at token 0")
	case ends[len(ends)-1] != s.Seq:
		return fmt.Errorf("kda: packed sequences end at token %d of %d", ends[len(ends)-1], s.Seq)
	}
	for i := range ends[1:] {
		if ends[i+1] < ends[i] {
			return fmt.Errorf("kda: packed sequence %d ends at token %d, before its begin at %d", i, ends[i+1], ends[i])
		}
	}
	return nil
}

// sequences is how many there are: those of the batch, or the packed ones.
func (s Shape) sequences(ends []int) int {
	if ends == nil {
		return s.Batch
	}
	return len(ends) - 1
}

// span is the first token of a sequence, among those of all the batch, and how many it has.
func (s Shape) span(ends []int, sequence int) (first, tokens int) {
	if ends == nil {
		return sequence * s.Seq, s.Seq
	}
	return ends[sequence], ends[sequence+1] - ends[sequence]
}
