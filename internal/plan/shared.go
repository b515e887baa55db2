package plan

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// sharedAlign is the alignment of every shared buffer: what a 16-byte access needs.
const sharedAlign = 16

// layoutShared gives shared buffers their offsets and writes them into the addresses.
func layoutShared(s *state) error {
	for _, b := range s.out.Shared {
		b.Offset = s.out.SharedBytes
		s.out.SharedBytes += (b.Bytes + sharedAlign - 1) &^ (sharedAlign - 1)
	}
	if s.out.SharedBytes > s.t.Shared {
		var table strings.Builder
		for _, b := range s.out.Shared {
			fmt.Fprintf(&table, "\n  %8d bytes  %s (%s)", b.Bytes, b.Name, b.Note)
		}
		return fmt.Errorf("shared memory: %d bytes, %s has %d a block; make tiles smaller:%s", s.out.SharedBytes, s.t.Name, s.t.Shared, table.String())
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
