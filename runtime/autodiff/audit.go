package autodiff

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gotile/gotile/runtime/device"
)

// Audit runs Ref beside the fused kernel on every K-th application of each op that has one, on the same inputs, and
// compares the outputs: max|fused-ref| / max|ref|. The ledger has the worst; above bar, if it is not 0, it is the tape's
// error. It copies the outputs to the host, which a captured step cannot. The applications of the first K-1 are not looked at.
func Audit(every int, bar float64) Option {
	return func(t *Tape) { t.audit = auditor{every: every, bar: bar} }
}

type auditor struct {
	every int
	bar   float64
}

// due reports whether the application that book counted last is to be audited.
func (a auditor) due(book *Counts) bool { return a.every > 0 && book.Fused%a.every == 0 }

// auditCall runs Ref and compares. Nothing of it stays on the tape or in the books.
func (t *Tape) auditCall(n *node) {
	phase, ledger, audit, nodes, made, leaves := t.phase, t.book, t.audit, len(t.nodes), len(t.made), len(t.leaves)
	t.phase, t.book, t.audit = Eval, Ledger{}, auditor{}
	outs := n.app.reference(t)
	worst, port, err := 0.0, "", t.err
	if err == nil {
		err = t.checkOut(n.core, n.in, outs, n.at)
	}
	for i, v := range outs {
		if err != nil || v == nil || n.out[i] == nil {
			continue
		}
		var e float64
		if e, err = t.difference(n.out[i].data, v.data); e > worst || port == "" || math.IsNaN(e) {
			worst, port = e, n.core.out.list[i].name
		}
	}
	for _, v := range t.made[made:] {
		t.release(v.store)
		v.store = nil
	}
	for p, v := range t.params { // those that only Ref has asked for are not tracked here
		if slices.Contains(t.leaves[leaves:], v) {
			delete(t.params, p)
		}
	}
	t.phase, t.book, t.audit, t.nodes, t.made, t.leaves = phase, ledger, audit, t.nodes[:nodes], t.made[:made], t.leaves[:leaves]
	if err != nil {
		t.fail(&Error{Op: n.core.name, At: n.at.String(), Err: err, Text: fmt.Sprintf("the audit's Ref failed: %v", err)})
		return
	}
	n.book.audit(1, worst, port)
	if t.audit.bar > 0 && !(worst <= t.audit.bar) {
		t.fail(&Error{Op: n.core.name, Port: port, At: n.at.String(), Err: ErrAudit,
			Text: fmt.Sprintf("the fused kernel differs from Ref by %.2g of the largest value; the bar is %.2g", worst, t.audit.bar)})
	}
}

// difference is max|got-want| / max|want|; where want is 0 everywhere, max|got|. A NaN on either side gives NaN.
func (t *Tape) difference(got, want device.Tensor) (float64, error) {
	a, err := device.DownloadFloats(t.s, got)
	if err != nil {
		return 0, err
	}
	b, err := device.DownloadFloats(t.s, want)
	if err != nil {
		return 0, err
	}
	if len(a) != len(b) {
		return math.NaN(), nil
	}
	var diff, scale float64
	for i := range b {
		d := math.Abs(a[i] - b[i])
		if a[i] == b[i] { // infinities
			d = 0
		}
		if math.IsNaN(d) {
			return d, nil
		}
		diff, scale = max(diff, d), max(scale, math.Abs(b[i]))
	}
	if scale > 0 {
		diff /= scale
	}
	return diff, nil
}

// finite makes the first value that is not finite an error, with what it was made of. prefix is "d" for gradients.
func (t *Tape) finite(n *node, vs []*value, prefix string) error {
	list := n.core.out.list
	if prefix != "" {
		list = n.core.in.list
	}
	for i, v := range vs {
		if v == nil || v.store == nil || !floating(v.data.DType()) {
			continue
		}
		if in := n.in; prefix != "" && (in[i] == nil || !in[i].track || list[i].nograd) {
			continue // a gradient that nobody needs
		}
		bad, at, err := t.firstBad(v.data)
		if err != nil {
			return &Error{Op: n.core.name, Port: prefix + list[i].name, At: n.at.String(), Err: err}
		}
		if at >= 0 {
			return &Error{Op: n.core.name, Port: prefix + list[i].name, At: n.at.String(), Err: ErrNotFinite,
				Text: fmt.Sprintf("element %d of %v is %v; %s", at, v.data, bad, t.inputsText(n))}
		}
	}
	return nil
}

// firstBad is the first element that is not finite; at is -1 where there is none.
func (t *Tape) firstBad(d device.Tensor) (bad float64, at int, err error) {
	a, err := device.DownloadFloats(t.s, d)
	if err != nil {
		return 0, -1, err
	}
	for i, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return v, i, nil
		}
	}
	return 0, -1, nil
}

// inputsText says of a node's inputs how large they are.
func (t *Tape) inputsText(n *node) string {
	var parts []string
	for i, v := range n.in {
		if v == nil {
			continue
		}
		text := fmt.Sprintf("%s is %v", n.core.in.list[i].name, v)
		if v.store != nil && floating(v.data.DType()) {
			if a, err := device.DownloadFloats(t.s, v.data); err == nil {
				largest := 0.0
				for _, f := range a {
					if math.IsNaN(f) || math.IsInf(f, 0) {
						largest = math.NaN()
						break
					}
					largest = max(largest, math.Abs(f))
				}
				if math.IsNaN(largest) {
					text += ", not finite itself"
				} else {
					text += fmt.Sprintf(", at most %.3g", largest)
				}
			}
		}
		parts = append(parts, text)
	}
	return "its inputs: " + strings.Join(parts, "; ")
}
