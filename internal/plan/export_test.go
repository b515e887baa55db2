package plan

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// Sharing is which buffers of shared memory may have bytes in common, for tests.
type Sharing struct {
	Buffers []*thr.SharedBuf
	l       *lives
}

// Index is the number of a buffer; -1: there is none of the name.
func (s *Sharing) Index(name string) int {
	return slices.IndexFunc(s.Buffers, func(b *thr.SharedBuf) bool { return b.Name == name })
}

// May reports whether two buffers may have bytes in common.
func (s *Sharing) May(a, b int) bool { return !s.l.apart[a].has(b) }

// Forget makes the planner take two buffers that may not share for two that may.
func (s *Sharing) Forget(a, b int) {
	s.l.apart[a][b/64] &^= 1 << (b % 64)
	s.l.apart[b][a/64] &^= 1 << (a % 64)
}

// LowerSharing is Lower with buffers that share bytes wherever they may, also where nothing is gained. see may change
// what may.
func LowerSharing(k *ir.Kernel, t *target.Target, see func(*Sharing)) (*thr.Kernel, error) {
	s := newState(k, t)
	for _, p := range passes[:len(passes)-1] {
		if err := p.run(s); err != nil {
			return nil, err
		}
	}
	l := newLives(s)
	if see != nil {
		see(&Sharing{s.out.Shared, l})
	}
	offsets, bytes := l.place(l.sizes(nil), l.keepsApart)
	if err := l.lay(s, offsets, bytes); err != nil {
		return nil, err
	}
	return s.out, thr.Verify(s.out)
}
