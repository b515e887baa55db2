package autodiff

import "reflect"

// block is a part of a step whose intermediate tensors end with it.
type block struct{ nodes int }

// Block runs body, which applies ops and returns a Tensor, or a struct, an array, a slice or a map of Tensors. What body does not return is at an
// end with it: on a tape that evaluates its memory is given back; on one that trains by Recompute that of memory-bound
// ops is, until Backward needs it. Elsewhere Block changes nothing. Blocks nest.
func Block[T any](t *Tape, body func() T) T {
	if t == nil {
		return body() // whose ops do nothing either
	}
	t.blocks = append(t.blocks, block{len(t.nodes)})
	out := body()
	b := t.blocks[len(t.blocks)-1]
	t.blocks = t.blocks[:len(t.blocks)-1]
	if t.err == nil && t.enter("Block") {
		keep := map[*value]bool{}
		returned(reflect.ValueOf(&out).Elem(), keep)
		t.endBlock(t.nodes[b.nodes:], keep)
		t.leave()
	}
	return out
}

// returned finds the Tensors in what a Block returns.
func returned(v reflect.Value, keep map[*value]bool) {
	switch {
	case v.Type() == tensorType:
		if p := (*value)(v.Field(0).UnsafePointer()); p != nil {
			keep[p] = true
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			returned(v.Field(i), keep)
		}
	case v.Kind() == reflect.Array || v.Kind() == reflect.Slice:
		for i := range v.Len() {
			returned(v.Index(i), keep)
		}
	case v.Kind() == reflect.Map:
		for it := v.MapRange(); it.Next(); {
			returned(it.Value(), keep)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		returned(v.Elem(), keep)
	}
}

// endBlock gives back what the strategy does not keep of the nodes of a block.
func (t *Tape) endBlock(nodes []*node, keep map[*value]bool) {
	for _, n := range nodes {
		switch {
		case t.phase == Eval:
		case t.strategy == Recompute && n.core.memory:
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
