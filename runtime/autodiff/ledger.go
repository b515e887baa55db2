package autodiff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Counts are the books of one op in one phase. Always
//
//	Asked   = Fused + the sum of Declined
//	Ref     = the sum of Declined
//	Fused   = Forward + Untracked
//	Forward = Backward + Dropped, at the end of a tape
type Counts struct {
	Asked     int            `json:"asked"`              // applications
	Fused     int            `json:"fused"`              // that took the op's kernels
	Declined  map[string]int `json:"declined,omitempty"` // that took Ref, by reason; killed is a switch
	Ref       int            `json:"ref"`                // runs of Ref, but for those of audits
	Forward   int            `json:"forward"`            // fused ones that backward is to come back to
	Backward  int            `json:"backward"`           // backward steps
	Untracked int            `json:"untracked"`          // fused ones that backward need not come back to
	Dropped   int            `json:"dropped"`            // Forward without Backward, counted when the tape is closed
	Replays   int            `json:"replays"`            // forward passes run again in backward
	Launches  LaunchCounts   `json:"launches"`
	Audit     *AuditCounts   `json:"audit,omitempty"`
	HasRef    bool           `json:"has_ref"` // the op has one
}

// LaunchCounts are launches of kernels, measured.
type LaunchCounts struct {
	Forward  int `json:"forward"`
	Backward int `json:"backward"`
	Replay   int `json:"replay"`
}

// AuditCounts are what audits of an op found.
type AuditCounts struct {
	Runs  int        `json:"runs"`
	Worst Difference `json:"worst"` // of max|fused-ref| / max|ref| over outputs and runs
	Port  string     `json:"port"`  // that it was at
}

// Difference is an error; in JSON, which has no NaN and no infinity, those are the strings "NaN" and "+Inf".
type Difference float64

// MarshalJSON writes a number or a string.
func (d Difference) MarshalJSON() ([]byte, error) {
	if f := float64(d); math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(fmt.Sprint(f))
	}
	return json.Marshal(float64(d))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Difference) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*d = Difference(f)
	return err
}

// killed is the reason of Declined for ops that are switched off.
const killed = "killed"

// UpdateCounts are the books of one name of Tape.Update.
type UpdateCounts struct {
	Runs     int `json:"runs"`
	Launches int `json:"launches"`
}

// Ledger is the books of a tape, or of several: what was asked for, and what became of it.
type Ledger struct {
	Ops      map[Phase]map[string]*Counts       `json:"ops"`
	Updates  map[Phase]map[string]*UpdateCounts `json:"updates,omitempty"`
	Detached map[Phase]map[string]int           `json:"detached,omitempty"` // by reason
}

// entry is m[phase][name], made if missing.
func entry[V any](m *map[Phase]map[string]*V, phase Phase, name string) *V {
	if *m == nil {
		*m = map[Phase]map[string]*V{}
	}
	if (*m)[phase] == nil {
		(*m)[phase] = map[string]*V{}
	}
	v := (*m)[phase][name]
	if v == nil {
		v = new(V)
		(*m)[phase][name] = v
	}
	return v
}

func (l *Ledger) of(phase Phase, c *core) *Counts {
	n := entry(&l.Ops, phase, c.name)
	n.HasRef = c.ref
	return n
}

func (l *Ledger) update(phase Phase, name string, launches int) {
	u := entry(&l.Updates, phase, name)
	u.Runs++
	u.Launches += launches
}

func (l *Ledger) detach(phase Phase, why string) {
	if l.Detached == nil {
		l.Detached = map[Phase]map[string]int{}
	}
	if l.Detached[phase] == nil {
		l.Detached[phase] = map[string]int{}
	}
	l.Detached[phase][why]++
}

func (c *Counts) decline(why string) {
	if c.Declined == nil {
		c.Declined = map[string]int{}
	}
	c.Declined[why]++
}

func (c *Counts) declined() int {
	n := 0
	for _, k := range c.Declined {
		n += k
	}
	return n
}

// Of are the counts of an op in a phase; zeros where it was never asked for.
func (l *Ledger) Of(phase Phase, op string) Counts {
	if c := l.Ops[phase][op]; c != nil {
		return *c
	}
	return Counts{}
}

// Check demands that the books of closed tapes balance. The error is ErrBooks.
func (l *Ledger) Check() error {
	for _, phase := range phases(l) {
		for _, op := range slices.Sorted(maps.Keys(l.Ops[phase])) {
			c := l.Ops[phase][op]
			for _, rule := range []struct {
				text        string
				left, right int
			}{
				{"asked = fused + declined", c.Asked, c.Fused + c.declined()},
				{"ref = declined", c.Ref, c.declined()},
				{"fused = forward + untracked", c.Fused, c.Forward + c.Untracked},
				{"forward = backward + dropped", c.Forward, c.Backward + c.Dropped},
			} {
				if rule.left != rule.right {
					return &Error{Op: op, Err: ErrBooks, Text: fmt.Sprintf("%v: %s: %s is %d = %d", ErrBooks, phase, rule.text, rule.left, rule.right)}
				}
			}
		}
	}
	return nil
}

// Add adds the books of another tape, or times of them: a graph's replays repeat what the tape that it was captured
// from has counted.
func (l *Ledger) Add(o *Ledger, times int) {
	for phase, ops := range o.Ops {
		for name, c := range ops {
			n := entry(&l.Ops, phase, name)
			n.HasRef = n.HasRef || c.HasRef
			for why, k := range c.Declined {
				if n.Declined == nil {
					n.Declined = map[string]int{}
				}
				n.Declined[why] += k * times
			}
			for to, k := range map[*int]int{
				&n.Asked: c.Asked, &n.Fused: c.Fused, &n.Ref: c.Ref, &n.Forward: c.Forward, &n.Backward: c.Backward,
				&n.Untracked: c.Untracked, &n.Dropped: c.Dropped, &n.Replays: c.Replays,
				&n.Launches.Forward: c.Launches.Forward, &n.Launches.Backward: c.Launches.Backward, &n.Launches.Replay: c.Launches.Replay,
			} {
				*to += k * times
			}
			if c.Audit != nil {
				n.audit(c.Audit.Runs*times, float64(c.Audit.Worst), c.Audit.Port)
			}
		}
	}
	for phase, updates := range o.Updates {
		for name, u := range updates {
			n := entry(&l.Updates, phase, name)
			n.Runs += u.Runs * times
			n.Launches += u.Launches * times
		}
	}
	for phase, reasons := range o.Detached {
		for why, k := range reasons {
			for range k * times {
				l.detach(phase, why)
			}
		}
	}
}

func (c *Counts) audit(runs int, worst float64, port string) {
	if c.Audit == nil {
		c.Audit = &AuditCounts{}
	}
	c.Audit.Runs += runs
	if worst > float64(c.Audit.Worst) || c.Audit.Port == "" || math.IsNaN(worst) {
		c.Audit.Worst, c.Audit.Port = Difference(worst), port
	}
}

// Reset forgets everything.
func (l *Ledger) Reset() { *l = Ledger{} }

// phases are the phases of the books, train first.
func phases(l *Ledger) []Phase {
	return slices.SortedFunc(maps.Keys(l.Ops), func(a, b Phase) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

func rank(p Phase) int { return slices.Index([]Phase{Train, Eval}, p) }

// String is one line, the same for the same books:
//
//	train kda=412/412 bwd=412 ref=0 norm=515/515 bwd=515 | eval kda=80/80 norm=100/100
//
// of each op the fused applications and all, when training the backward steps, and the runs of Ref of ops that have one,
// which when evaluating are left out where there are none. Dropped nodes and the reasons for which an op was declined
// are added where there are any.
func (l *Ledger) String() string {
	var parts []string
	for _, phase := range phases(l) {
		words := []string{string(phase)}
		for _, op := range slices.Sorted(maps.Keys(l.Ops[phase])) {
			c := l.Ops[phase][op]
			words = append(words, fmt.Sprintf("%s=%d/%d", op, c.Fused, c.Asked))
			if phase == Train {
				words = append(words, fmt.Sprintf("bwd=%d", c.Backward))
			}
			if c.Ref > 0 || phase == Train && c.HasRef {
				words = append(words, fmt.Sprintf("ref=%d", c.Ref))
			}
			if c.Dropped > 0 {
				words = append(words, fmt.Sprintf("dropped=%d", c.Dropped))
			}
			for _, why := range slices.Sorted(maps.Keys(c.Declined)) {
				words = append(words, fmt.Sprintf("declined(%s)=%d", why, c.Declined[why]))
			}
		}
		parts = append(parts, strings.Join(words, " "))
	}
	return strings.Join(parts, " | ")
}

// JSON is the whole ledger, indented.
func (l *Ledger) JSON() ([]byte, error) { return json.MarshalIndent(l, "", "  ") }
