package device

import "fmt"

// simGraph is the calls that were captured; a replay makes them again.
type simGraph struct{ work []simNode }

type simNode struct {
	what string // for errors
	do   func() error
}

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
func (s *simulator) queue(stream uint64, what string, work func() error) error {
	s.mu.Lock()
	g := s.captures[stream]
	s.mu.Unlock()
	if g == nil {
		return work()
	}
	g.work = append(g.work, simNode{what, work}) // by the goroutine that has the stream
	return nil
}

func (g *simGraph) launch(uint64) error {
	for _, node := range g.work {
		if err := node.do(); err != nil {
			return fmt.Errorf("%s: %w", node.what, err)
		}
	}
	return nil
}

func (g *simGraph) nodes() int   { return len(g.work) }
func (g *simGraph) close() error { return nil }
