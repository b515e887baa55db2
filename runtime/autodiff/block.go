package autodiff

import (
	"reflect"
	"sync"
	"unsafe"
)

// block is a part of a step whose intermediate tensors end with it.
type block struct{ nodes int }

// Block runs body, which applies ops and returns a Tensor, or a struct of Tensors. What body does not return is at an
// end with it: on a tape that evaluates its memory is given back; on one that trains by Recompute that of memory-bound
// ops is, until Backward needs it. Elsewhere Block changes nothing. Blocks nest.
func Block[T any](t *Tape, body func() T) T {
	t.blocks = append(t.blocks, block{len(t.nodes)})
	out := body()
	b := t.blocks[len(t.blocks)-1]
	t.blocks = t.blocks[:len(t.blocks)-1]
	if t.err == nil && t.enter("Block") {
		keep := map[*value]bool{}
		for _, offset := range tensorsOf(reflect.TypeFor[T]()) {
			if v := (*Tensor)(unsafe.Add(unsafe.Pointer(&out), offset)).v; v != nil {
				keep[v] = true
			}
		}
		t.endBlock(t.nodes[b.nodes:], keep)
		t.leave()
	}
	return out
}

var tensorFields sync.Map // reflect.Type -> []uintptr

// tensorsOf gives the offsets of the Tensors in a Tensor or a struct.
func tensorsOf(t reflect.Type) []uintptr {
	if v, ok := tensorFields.Load(t); ok {
		return v.([]uintptr)
	}
	var out []uintptr
	switch {
	case t == tensorType:
		out = []uintptr{0}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			for _, o := range tensorsOf(t.Field(i).Type) {
				out = append(out, t.Field(i).Offset+o)
			}
		}
	}
	tensorFields.Store(t, out)
	return out
}

// endBlock gives back what the strategy does not keep of the nodes of a block.
func (t *Tape) endBlock(nodes []*node, keep map[*value]bool) {
	for _, n := range nodes {
		switch {
		case t.phase == Eval:
		case t.strategy == Recompute && n.core.memory && !n.dropped:
			t.forget(n)
			n.dropped = true
		default:
			continue
		}
		for _, v := range n.out {
			if v != nil && v.store != nil && !v.retain && !keep[v] {
				t.release(v.store)
				v.store = nil
			}
		}
	}
}
