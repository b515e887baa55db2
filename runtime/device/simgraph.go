package device

import "fmt"

// simGraph is the calls that were captured; a replay makes them again.
type simGraph struct{ work []simNode }

type simNode struct {
	kernel string // for errors, with what it was launched with; empty for copies and fills
	grid   int
	args   []byte
	do     func() error
}

// nodeError is the failure of a node of a graph.
type nodeError struct {
	simNode
	error
}

func (e *nodeError) Unwrap() error { return e.error }

func (s *simulator) beginCapture(stream uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.captures[stream] != nil {
		return fmt.Errorf("the stream captures already")
	}
	s.captures[stream] = &simGraph{}
	return nil
}

func (s *simulator) endCapture(stream uint64) (graph, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.captures[stream]
	delete(s.captures, stream)
	return g, nil
}

// queue does work, or keeps it where the stream captures.
func (s *simulator) queue(stream uint64, node simNode) error {
	s.mu.Lock()
	g := s.captures[stream]
	s.mu.Unlock()
	if g == nil {
		return node.do()
	}
	g.work = append(g.work, node) // by the goroutine that has the stream
	return nil
}

func (g *simGraph) launch(uint64) error {
	for _, node := range g.work {
		if err := node.do(); err != nil {
			return &nodeError{node, err}
		}
	}
	return nil
}

func (g *simGraph) nodes() int   { return len(g.work) }
func (g *simGraph) close() error { return nil }
