package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gotile/gotile/bench"
)

// section is a results file as the page shows it.
type section struct {
	ID, Title, File string
	Short           string // the facts that matter most
	Facts           []fact // where and how it was measured
	Commands        []string
	Notes           []string // what makes the figures doubtful
	Others          string   // what the base is beside: peers, which are other libraries, or ways to do the same
	Kinds           []kindView
}

// fact is a name and what stands for it.
type fact struct{ Name, Value string }

func sectionOf(id string, f File) section {
	r := f.Results
	s := section{ID: id, Title: r.Suite + " on " + r.Device, File: f.Name, Notes: r.Notes, Others: "peer"}
	if len(r.Peers) == 0 {
		s.Others = "other contender"
	}
	add := func(name, value string) {
		if value != "" {
			s.Facts = append(s.Facts, fact{name, value})
		}
	}
	commit := r.Commit
	if r.Dirty {
		commit += ", with uncommitted changes"
	}
	add("Device", r.Device)
	add("Driver", r.Driver)
	add("NVRTC", r.NVRTC)
	add("Commit", commit)
	add("Program", short(r.Binary))
	add("Plan", r.Plan)
	add("Clocks", clocks(r.Clocks))
	for _, family := range slices.Sorted(maps.Keys(r.Peers)) {
		add("Peer "+family, r.Peers[family])
	}
	brief := []string{"driver " + r.Driver, "NVRTC " + r.NVRTC, "commit " + commit}
	for _, x := range []string{r.Plan, clocks(r.Clocks)} {
		if x != "" {
			brief = append(brief, x)
		}
	}
	s.Short = strings.Join(brief, " · ")
	if r.Command != "" {
		s.Commands = strings.Split(r.Command, " && ")
	}
	for i, k := range kinds(r) {
		s.Kinds = append(s.Kinds, k.view(fmt.Sprintf("%s-k%d", id, i+1), r.Suite))
	}
	return s
}

// short is the beginning of a hash.
func short(sum string) string {
	if len(sum) > 12 {
		return "SHA-256 " + sum[:12] + "…"
	}
	return sum
}

// kindView is one kind: its standing, a table of all shapes, bars for each shape, and the figures to copy.
type kindView struct {
	ID, Title, Base string
	Standing        standing
	Measure         measure
	Ticks           []tick
	Step            float64 // between ticks, in percent
	Letters         int     // of the longest name of a contender, for which there is room
	Overview        overview
	Panels          []panel
	Figures         figures
}

// What the template asks of a measure.
func (m measure) Unit() string { return m.unit }
func (m measure) Name() string { return m.what }
func (m measure) Better() string {
	if m.lower {
		return "shorter is faster"
	}
	return "longer is faster"
}

func (k *kind) view(id, suite string) kindView {
	m := k.measure()
	a := axisOf(k, m)
	v := kindView{ID: id, Title: k.title(suite), Base: k.cases[0].base(), Measure: m, Ticks: a.ticks(), Step: a.at(a.step), Standing: k.standing()}
	arms := k.arms()
	for _, name := range arms {
		v.Letters = min(max(v.Letters, utf8.RuneCountInString(name)), 20)
	}
	v.Overview = k.overview(arms, m)
	for _, c := range k.cases {
		v.Panels = append(v.Panels, c.panel(arms, m, a))
	}
	v.Figures = k.figures(arms, m)
	return v
}

// standing is the kind's results in a line: the base beside the copy, and beside the fastest peer of each shape.
type standing struct {
	OfCopy               string // from its least to its largest part of the copy's bandwidth
	Faster, Same, Slower int    // shapes
	Peers                bool   // some shape has a peer with a time
}

func (k *kind) standing() standing {
	var s standing
	least, most := 0.0, 0.0
	for _, c := range k.cases {
		if part := c.ofCopy(); part > 0 {
			if least == 0 || part < least {
				least = part
			}
			most = max(most, part)
		}
		_, verdict, ok := c.Compare(c.fastestPeer())
		switch {
		case !ok:
			continue
		case verdict == bench.Faster:
			s.Faster++
		case verdict == bench.Slower:
			s.Slower++
		default:
			s.Same++
		}
		s.Peers = true
	}
	if most > 0 {
		s.OfCopy = span(least, most)
	}
	return s
}

func span(least, most float64) string {
	lo, hi := fmt.Sprintf("%.2f", least), fmt.Sprintf("%.2f", most)
	if lo == hi {
		return lo
	}
	return lo + "–" + hi
}

// panel is the bars of one case.
type panel struct {
	Shape string
	Rows  []bar
	Floor float64 // where the copy's bar ends, in percent of the axis; 0: none
	Foot  string
	Goals []goal
}

// bar is one arm of a case. An arm without a time has an error instead of everything but its name.
type bar struct {
	Name   string
	Class  string  // ours, peer or copy
	Width  float64 // of the bar, in percent of the axis
	Lo, Hi float64 // of the whiskers: the slowest and the fastest round
	Time   string
	Spread string // of the rounds, in percent of the median
	Rate   string
	Ratio  string // the base's time over this one's
	Word   string // verdict on the base
	Tone   string // of the verdict: faster, slower or empty
	Plain  bool   // launched without a graph
	Error  string
}

func (c shaped) panel(arms []string, m measure, a axis) panel {
	p := panel{Shape: c.shape, Foot: c.foot(), Goals: c.goals()}
	if name := c.copyArm(); name != "" && m.bytes {
		p.Floor = a.at(m.of(c.Case, name, c.Arms[name].Median))
	}
	least := 0.0
	for _, arm := range c.Arms {
		if arm.Median > 0 && (least == 0 || arm.Median < least) {
			least = arm.Median
		}
	}
	for _, name := range arms {
		if arm, ok := c.Arms[name]; ok {
			p.Rows = append(p.Rows, c.bar(name, arm, m, a, decimals(least)))
		}
	}
	return p
}

func (c shaped) bar(name string, arm bench.Arm, m measure, a axis, places int) bar {
	b := bar{Name: name, Class: "peer", Plain: arm.Plain}
	switch {
	case name == c.base():
		b.Class = "ours"
	case isCopy(name):
		b.Class = "copy"
	}
	if arm.Error != "" || arm.Median <= 0 {
		b.Error = cmp.Or(arm.Error, "it was not timed")
		return b
	}
	x := []float64{m.of(c.Case, name, arm.Min), m.of(c.Case, name, arm.Max)}
	b.Width, b.Lo, b.Hi = a.at(m.of(c.Case, name, arm.Median)), a.at(slices.Min(x)), a.at(slices.Max(x))
	b.Time = fmt.Sprintf("%.*f", places, arm.Median)
	b.Spread = fmt.Sprintf("%.1f %%", (arm.Max-arm.Min)/arm.Median*100)
	if !m.lower {
		b.Rate = figure(m.of(c.Case, name, arm.Median))
	}
	b.Ratio, b.Word, b.Tone = c.verdict(name)
	return b
}

// verdict is how the base did beside an arm.
func (c shaped) verdict(arm string) (ratio, word, tone string) {
	x, word, ok := c.Compare(arm)
	if !ok {
		return "", "", ""
	}
	tone = map[string]string{bench.Faster: "faster", bench.Slower: "slower"}[word]
	if isCopy(arm) {
		return fmt.Sprintf("%.3f", x), "", "" // it does another operation
	}
	return fmt.Sprintf("%.3f", x), word, tone
}

// foot is what is known of a case's run.
func (c shaped) foot() string {
	var out []string
	if text := clocks(c.Clocks); text != "" {
		out = append(out, text)
	}
	if c.Groups > 0 {
		out = append(out, count(c.Groups, "group", "groups")+" of inputs")
	}
	return strings.Join(out, "; ")
}

// count is a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// overview is a kind's table of shapes.
type overview struct {
	Unit    string
	Copies  bool
	Peers   []string
	Rows    []overviewRow
	Lacking string // what there is no column for
}

type overviewRow struct {
	Shape, Time, Spread, Rate, OfCopy string
	Cells                             []cell
}

// cell is the base's time over a peer's.
type cell struct{ Text, Word, Tone string }

func (k *kind) overview(arms []string, m measure) overview {
	o := overview{Unit: m.unit}
	for _, name := range arms {
		if slices.ContainsFunc(k.cases, func(c shaped) bool { return slices.Contains(c.peers(), name) }) {
			o.Peers = append(o.Peers, name)
		}
	}
	if len(o.Peers) == 0 {
		o.Lacking = "No other library was measured."
	}
	for _, c := range k.cases {
		row := overviewRow{Shape: c.shape, Time: "no time"}
		if arm := c.Arms[c.base()]; arm.Median > 0 {
			places := decimals(arm.Median)
			row.Time, row.Spread = fmt.Sprintf("%.*f", places, arm.Median), fmt.Sprintf("%.*f–%.*f", places, arm.Min, places, arm.Max)
			if !m.lower {
				row.Rate = figure(m.of(c.Case, c.base(), arm.Median))
			}
		}
		if part := c.ofCopy(); part > 0 {
			o.Copies, row.OfCopy = true, fmt.Sprintf("%.3f", part)
		}
		for _, name := range o.Peers {
			text, word, tone := c.verdict(name)
			switch arm, ok := c.Arms[name]; {
			case !ok:
				text, word = "", "not measured"
			case text == "" && arm.Error != "":
				text, word = "–", "no time: "+arm.Error
			}
			row.Cells = append(row.Cells, cell{text, word, tone})
		}
		o.Rows = append(o.Rows, row)
	}
	return o
}
