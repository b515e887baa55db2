package doccheck

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/bench"
)

// What was predicted of suite async before anything was measured: bytes come no faster than the memory of an H200 gave
// them to kernels that mostly read, and, by Little's law, no faster than what is in flight over the time of one access.
const (
	readBandwidth = 4.4 // TB/s
	readLatency   = 0.7 // microseconds
)

// predictedBandwidth is in TB/s, of so many bytes in flight on the device.
func predictedBandwidth(inFlight float64) float64 {
	return min(inFlight/readLatency*1e-6, readBandwidth)
}

// AsyncTable shows suite async for a shape: by blocks on a multiprocessor the variants of the kernel.
func AsyncTable(r *bench.Results, shape string) (string, error) {
	names := []struct{ arm, text string }{
		{"sync", "loads, waited for"}, {"cpasync_2", "cp.async, 2 stages"}, {"cpasync_4", "cp.async, 4 stages"}, {"cpasync_8", "cp.async, 8 stages"},
		{"tma_2", "pipeline, 2 stages"}, {"tma_4", "pipeline, 4 stages"}, {"tma_8", "pipeline, 8 stages"},
	}
	const base, plain = "sync", "copy"
	var rows [][]string
	for _, c := range r.Cases {
		parts := strings.Split(c.Name, "/")
		if len(parts) != 4 || parts[2] != shape {
			continue
		}
		if c.Arms[base].Median <= 0 || c.Arms[plain].Median <= 0 {
			return "", fmt.Errorf("%s: no time of %s or of %s: %s%s", c.Name, base, plain, c.Arms[base].Error, c.Arms[plain].Error)
		}
		blocks := strings.TrimPrefix(parts[1], "blocks")
		for _, n := range names {
			a, ok := c.Arms[n.arm]
			if !ok {
				continue
			}
			if a.Median <= 0 {
				return "", fmt.Errorf("%s: no time of %s: %s", c.Name, n.arm, a.Error)
			}
			inFlight, gain := a.Figures["in_flight_bytes"], "1"
			if n.arm != base {
				gain = fmt.Sprintf("%.2f", c.Ratio[n.arm])
			}
			rows = append(rows, []string{
				blocks, fmt.Sprintf("%.0f", a.Figures["threads_per_sm"]), n.text, fmt.Sprintf("%.2f", inFlight/mebibyte), fmt.Sprintf("%.2f", predictedBandwidth(inFlight)),
				spread(a, 1), fmt.Sprintf("%.2f", c.Bandwidth(n.arm)/1e12), fmt.Sprintf("%.2f", c.Bandwidth(n.arm)/c.Bandwidth(plain)), gain,
			})
		}
	}
	if rows == nil {
		return "", fmt.Errorf("suite %s has no case of %s", r.Suite, shape)
	}
	return table([]string{"blocks an SM", "threads an SM", shape + ", rows by", "in flight, MiB", "predicted TB/s", "µs (min to max)", "TB/s", "part of copy", "faster than loads"}, rows), nil
}
