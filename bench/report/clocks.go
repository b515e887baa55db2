package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// clocks says in words what nvidia-smi answered under load.
func clocks(c map[string]string) string {
	c = maps.Clone(c)
	var out []string
	take := func(key, form string) {
		if v, ok := c[key]; ok && v != "" {
			out = append(out, fmt.Sprintf(form, v))
		}
		delete(c, key)
	}
	take("clocks.sm", "SM %s")
	take("clocks.mem", "memory %s")
	take("power.draw", "%s")
	take("temperature.gpu", "%s °C")
	reasons, ok := c["clocks_event_reasons.active"]
	delete(c, "clocks_event_reasons.active")
	for _, key := range slices.Sorted(maps.Keys(c)) {
		out = append(out, key+" "+c[key])
	}
	if ok {
		out = append(out, throttling(reasons))
	}
	return strings.Join(out, ", ")
}

// reasons are the bits of nvmlClocksEventReasons in NVML's order, those that lower clocks.
var reasons = []struct {
	bit  uint64
	name string
}{
	{0x1, "idle"}, {0x2, "application clocks"}, {0x4, "software power cap"}, {0x8, "hardware slowdown"}, {0x10, "sync boost"},
	{0x20, "software thermal slowdown"}, {0x40, "hardware thermal slowdown"}, {0x80, "hardware power brake"}, {0x100, "display clock"},
}

// throttling names the reasons for which clocks were lowered.
func throttling(mask string) string {
	bits, err := strconv.ParseUint(strings.TrimPrefix(mask, "0x"), 16, 64)
	switch {
	case err != nil:
		return "throttling unknown (" + mask + ")"
	case bits == 0:
		return "not throttled"
	}
	var names []string
	for _, r := range reasons {
		if bits&r.bit != 0 {
			names = append(names, r.name)
			bits &^= r.bit
		}
	}
	if bits != 0 {
		names = append(names, fmt.Sprintf("%#x", bits))
	}
	return "clocks lowered: " + strings.Join(names, " and ")
}
