package report

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gotile/gotile/bench"
)

// kind is what a suite times on several shapes: the parts of a benchmark's name besides the suite and the shape.
type kind struct {
	name  string
	cases []shaped
}

// shaped is a case and the part of its name that tells it from the others of its kind.
type shaped struct {
	bench.Case
	shape string
}

// shapeForm is what a shape looks like in a benchmark's name.
var shapeForm = regexp.MustCompile(`^[0-9]+(x[0-9]+)+$`)

// kinds groups the cases; order is that of the results.
func kinds(r *bench.Results) []*kind {
	var out []*kind
	for _, c := range r.Cases {
		parts := strings.Split(strings.TrimPrefix(c.Name, r.Suite+"/"), "/")
		at := slices.IndexFunc(parts, shapeForm.MatchString)
		if at < 0 {
			at = len(parts) - 1
		}
		shape := parts[at]
		name := strings.Join(slices.Delete(parts, at, at+1), "/")
		i := slices.IndexFunc(out, func(k *kind) bool { return k.name == name })
		if i < 0 {
			i, out = len(out), append(out, &kind{name: name})
		}
		out[i].cases = append(out[i].cases, shaped{c, shape})
	}
	return out
}

// title is the kind in words.
func (k *kind) title(suite string) string {
	if k.name == "" {
		return suite
	}
	parts := strings.Split(k.name, "/")
	for i, p := range parts {
		parts[i] = Words(p)
	}
	return strings.Join(parts, ", ")
}

// Words spells out the passes that the suites here abbreviate in the names of their benchmarks.
func Words(pass string) string {
	switch pass {
	case "fwd":
		return "forward"
	case "bwd":
		return "backward"
	case "add_fwd":
		return "forward with a residual"
	case "add_bwd":
		return "backward with a residual"
	case "gated_fwd":
		return "gated forward"
	case "gated_bwd":
		return "gated backward"
	}
	return pass
}

// base is the arm that the others are compared with.
func (c shaped) base() string {
	if c.Base == "" {
		return "gotile"
	}
	return c.Base
}

// isCopy tells a plain copy, which no operation that moves as many tensors can beat by much, from other contenders.
func isCopy(arm string) bool { return strings.HasPrefix(arm, "copy") }

// copyArm is the plain copy that was timed with a case; empty: none.
func (c shaped) copyArm() string {
	for _, name := range c.names() {
		if isCopy(name) && name != c.base() && c.Arms[name].Median > 0 {
			return name
		}
	}
	return ""
}

// ofCopy is the base's bandwidth as a part of the copy's, the median over rounds; 0 where one of them has no time.
func (c shaped) ofCopy() float64 {
	name := c.copyArm()
	ratio := c.Ratio[name]
	if name == "" || ratio <= 0 {
		return 0
	}
	bytes := c.Arms[name].Bytes
	if bytes == 0 {
		bytes = c.Bytes
	}
	return float64(c.Bytes) / float64(bytes) / ratio
}

// names lists the arms by name.
func (c shaped) names() []string {
	var out []string
	for name := range c.Arms {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// peers lists the arms that are neither the base nor a copy, by name.
func (c shaped) peers() []string {
	return slices.DeleteFunc(c.names(), func(name string) bool { return name == c.base() || isCopy(name) })
}

// fastestPeer is the one that takes the least time; empty: none has one.
func (c shaped) fastestPeer() string {
	best := ""
	for _, name := range c.peers() {
		if t := c.Arms[name].Median; t > 0 && (best == "" || t < c.Arms[best].Median) {
			best = name
		}
	}
	return best
}

// arms lists the arms of all cases: bases first, then others, those that are fast against the base before slow ones,
// then copies.
func (k *kind) arms() []string {
	rank, ratios := map[string]int{}, map[string][]float64{}
	for _, c := range k.cases {
		for _, name := range c.names() {
			ratios[name] = append(ratios[name], c.Ratio[name]) // 0 where it has no time: last of its rank
			if isCopy(name) {
				rank[name] = 2
			} else if rank[name] == 0 && name != c.base() {
				rank[name] = 1
			}
		}
		rank[c.base()] = 0
	}
	typical := func(name string) float64 {
		slices.Sort(ratios[name])
		if n := len(ratios[name]); n > 0 {
			return ratios[name][n/2]
		}
		return 0
	}
	var out []string
	for name := range ratios {
		out = append(out, name)
	}
	slices.Sort(out)
	slices.SortStableFunc(out, func(a, b string) int {
		if rank[a] != rank[b] {
			return rank[a] - rank[b]
		}
		switch x, y := typical(a), typical(b); {
		case x > y: // the base takes more of its time: it is fast
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return out
}
