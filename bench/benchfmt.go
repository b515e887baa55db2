package bench

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"unicode"
)

// Benchfmt is the results in the format of Go benchmarks (golang.org/x/perf/benchfmt), a line a round, so that
// benchstat has samples:
//
//	benchstat -col /arm FILE          arms side by side
//	benchstat -filter /arm:gotile OLD NEW
func (r *Results) Benchfmt() []byte {
	var b bytes.Buffer
	for _, f := range [][2]string{{"suite", r.Suite}, {"device", r.Device}, {"driver", r.Driver}, {"nvrtc", r.NVRTC}, {"commit", r.Commit}} {
		if f[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", f[0], f[1])
		}
	}
	for _, c := range r.Cases {
		for _, name := range slices.Sorted(maps.Keys(c.Arms)) {
			a := c.Arms[name]
			for _, us := range a.Rounds {
				bytes := c.Bytes
				if a.Bytes > 0 {
					bytes = a.Bytes
				}
				fmt.Fprintf(&b, "Benchmark%s/arm=%s 1 %.6g ns/op", title(c.Name), name, us*1e3)
				if bytes > 0 {
					fmt.Fprintf(&b, " %.6g B/s", float64(bytes)/us*1e6)
				}
				for _, figure := range slices.Sorted(maps.Keys(a.Figures)) {
					fmt.Fprintf(&b, " %.6g %s", a.Figures[figure], figure)
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.Bytes()
}

// title is a name with a first letter that may follow the word Benchmark.
func title(name string) string {
	r := []rune(name)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}
