package autodiff

// slab hands out memory that is made in chunks: a tape's values live as long as it does, so that many of one kind cost
// the collector one object.
type slab[T any] struct {
	free []T
	next int // size of the next chunk
}

// take is n zero values.
func (s *slab[T]) take(n int) []T {
	const least, most = 8, 256
	if len(s.free) < n {
		s.next = min(max(2*s.next, least), most)
		s.free = make([]T, max(s.next, n))
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// one is a pointer to a zero value.
func (s *slab[T]) one() *T { return &s.take(1)[0] }
