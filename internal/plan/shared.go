package plan

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// sharedAlign is the least alignment of a shared buffer: what a 16-byte access needs.
const sharedAlign = 16

// layoutShared gives shared buffers their offsets and writes them into the addresses.
func layoutShared(s *state) error {
	for _, b := range s.out.Shared {
		align := max(b.Align, sharedAlign)
		b.Offset = (s.out.SharedBytes + align - 1) &^ (align - 1)
		s.out.SharedBytes = (b.Offset + b.Bytes + sharedAlign - 1) &^ (sharedAlign - 1)
	}
	if s.out.SharedBytes > s.t.Shared {
		var all []string
		for _, b := range s.out.Shared {
			all = append(all, fmt.Sprintf("%s (%s) has %d", b.Name, b.Note, b.Bytes))
		}
		return positioned(ir.ErrTarget, s.k.Pos, "the kernel takes %d bytes of shared memory and %s has %d a block; make tiles smaller, or leave the target out with tile.Targets: %s",
			s.out.SharedBytes, s.t.Name, s.t.Shared, strings.Join(all, ", "))
	}
	s.out.Body = rewrite(s.out.Body, func(e thr.Expr) thr.Expr {
		switch e := e.(type) {
		case thr.SharedAddr:
			return thr.Const{DT: dtype.U32, Bits: uint64(e.Buf.Offset)}
		case thr.Apply:
			if e.Op == ir.Add && e.T == dtype.U32 {
				return add(e.Args[0], e.Args[1])
			}
		}
		return e
	})
	return nil
}
