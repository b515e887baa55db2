package thr

// Each visits statements and those inside them, in the order of the text.
func Each(body []Stmt, visit func(Stmt)) {
	for _, s := range body {
		visit(s)
		switch s := s.(type) {
		case If:
			Each(s.Then, visit)
			Each(s.Else, visit)
		case For:
			Each(s.Body, visit)
		case While:
			Each(s.Head, visit)
			Each(s.Body, visit)
		}
	}
}
