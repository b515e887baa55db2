package ir

// Programmatic dependent launch: a kernel may begin while those before it on its stream still run. What it does before
// its WaitPrerequisites then overlaps with them.

// LaunchDependents records that the next kernel of the stream may begin as soon as all blocks have come here.
func (b *Builder) LaunchDependents() {
	if !b.atTop(LaunchDependents, "it is for all blocks") {
		return
	}
	b.Kernel.Triggers = true
	b.emit(&Value{Op: LaunchDependents, Scope: ScopeBlock})
}

// WaitPrerequisites records the wait for the kernels before this one. Nothing before it may write global memory, which
// they may still use; and no LaunchDependents may stand before it, so that a kernel overlaps with the last one only.
func (b *Builder) WaitPrerequisites() {
	const op = WaitPrerequisites
	if !b.atTop(op, "a block that skipped it could end before the kernels that it depends on") {
		return
	}
	if b.Kernel.Waits {
		b.Errorf(op, ErrLimit, "a second WaitPrerequisites: the first has waited for all kernels before this one; drop it")
		return
	}
	b.Kernel.Waits = true
	b.early(b.Kernel.Body)
	b.emit(&Value{Op: op, Scope: ScopeBlock})
}

// early reports what may not stand before a WaitPrerequisites that comes next.
func (b *Builder) early(r *Region) {
	if r == nil {
		return
	}
	for _, v := range r.Ops {
		arg := (*Arg)(nil)
		switch a := v.Attr.(type) {
		case *Access:
			if v.Op != Load {
				arg = a.Arg
			}
		case *BulkInfo:
			if v.Op == StoreBulk {
				arg = a.Arg
			}
		case *TensorInfo:
			if v.Op == StoreTensor || v.Op == ReduceTensor {
				arg = a.Arg
			}
		}
		switch {
		case arg != nil:
			b.errorAt(v.Pos, v.Op, ErrScope, "%s to %s before the WaitPrerequisites of the kernel: the kernels before it may still use %s; put it behind", Table[v.Op].Go, arg.Field, arg.Field)
		case v.Op == LaunchDependents:
			b.errorAt(v.Pos, v.Op, ErrScope, "LaunchDependents before WaitPrerequisites: the next kernel could begin before those that this one waits for are over; put it behind")
		}
		for _, in := range v.Regions {
			b.early(in)
		}
	}
}

func (b *Builder) atTop(op Op, why string) bool {
	if b.cur == b.Kernel.Body {
		return true
	}
	b.Errorf(op, ErrScope, "%s in the %s at %s: %s; put it at the top level of the kernel", Table[op].Go, Table[b.cur.Owner.Op].Go, b.cur.Owner.Pos, why)
	return false
}
