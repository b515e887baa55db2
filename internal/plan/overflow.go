package plan

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/internal/ir"
)

// overflow is the error of a kernel whose buffers do not fit.
func overflow(s *state, l *lives) error {
	var all []string
	for _, b := range s.out.Shared {
		all = append(all, fmt.Sprintf("%s (%s) has %d", b.Name, b.Note, b.Bytes))
	}
	return positioned(ir.ErrTarget, s.k.Pos, "the kernel takes %d bytes of shared memory and %s has %d a block; make tiles smaller, or leave the target out with tile.Targets: %s",
		s.out.SharedBytes, s.t.Name, s.t.Shared, strings.Join(all, ", "))
}
