package cuda

import (
	"fmt"

	"github.com/gotile/gotile/internal/thr"
)

// forLoop prints a counting loop. C evaluates the bound and the step in every iteration; where the body changes a
// variable that they read, they are kept in variables of the loop.
func (p *printer) forLoop(s thr.For) {
	p.ranges.loop(s)
	v := p.name(s.Var)
	init := fmt.Sprintf("int %s = %s", v, p.expr(s.Lo).text)
	changed := map[*thr.Local]bool{}
	assigned(s.Body, changed)
	hi, step := p.expr(s.Hi), p.expr(s.Step)
	if reads(s.Hi, changed) {
		end := primary(p.fresh(v + "_end"))
		init += ", " + end.text + " = " + hi.text
		hi = end
	}
	if reads(s.Step, changed) {
		by := primary(p.fresh(v + "_step"))
		init += ", " + by.text + " = " + step.text
		step = by
	}
	next := v + " += " + step.text
	if step.text == "1" {
		next = v + "++"
	}
	if s.Unroll {
		p.line("#pragma unroll")
	}
	p.block(fmt.Sprintf("for (%s; %s < %s; %s)", init, v, hi.at(precLess+1), next), s.Body)
}

// whileLoop leaves in the middle where the condition needs statements of its own.
func (p *printer) whileLoop(s thr.While) {
	if p.watch && idle(s.Body) {
		p.watchedLoop(s)
		return
	}
	if len(s.Head) == 0 {
		p.block("while ("+p.expr(s.Cond).text+")", s.Body)
		return
	}
	p.line("for (;;) {")
	p.nested(s.Head)
	p.line("  if (%s) break;", prefix("!", p.expr(s.Cond)).text)
	p.nested(s.Body)
	p.line("}")
}

// ifElse prints a conditional; an else of just another one goes on as else if.
func (p *printer) ifElse(head string, s thr.If) {
	p.line("%s (%s) {", head, p.expr(s.Cond).text)
	p.nested(s.Then)
	if len(s.Else) == 1 {
		if e, ok := s.Else[0].(thr.If); ok {
			p.mark(e.Source())
			p.ifElse("} else if", e)
			return
		}
	}
	if len(s.Else) > 0 {
		p.line("} else {")
		p.nested(s.Else)
	}
	p.line("}")
}
