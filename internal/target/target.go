// Package target is the capability record of each GPU target: what its hardware has, what gotile lowers, what was
// verified and how.
package target

import (
	"fmt"
	"maps"
	"sort"
	"strings"
)

// Feature is something a kernel can ask for beyond the common ground: what sm_80 and all later chips have, such as
// 16-byte loads and shuffles, is no feature. Atomics are listed although all have them, for the record of what ran.
type Feature string

// The features.
const (
	Atomics    Feature = "atomics" // 32- and 64-bit integer and f32 atomics on global memory
	CpAsync    Feature = "cp.async"
	Cluster    Feature = "cluster"
	TMA        Feature = "tma"
	Multicast  Feature = "tma-multicast"
	WGMMA      Feature = "wgmma"
	MMASync    Feature = "mma.sync"
	LdMatrix   Feature = "ldmatrix"
	StMatrix   Feature = "stmatrix"
	SetMaxNReg Feature = "setmaxnreg"
	Elect      Feature = "elect"
	TCGen05    Feature = "tcgen05"
)

// Status is a feature's three columns.
type Status struct {
	Hardware bool   // the chip has it
	Lowered  bool   // gotile emits it for this target
	Verified string // which test ran it, on what; with "by proxy" where another chip did; empty: nothing ran
}

// Target is one row of the table.
type Target struct {
	Name     string // sm_90a
	Arch     string // what NVRTC compiles for: sm_90a
	CC       int    // compute capability times ten: 90
	Shared   int    // bytes of shared memory a block can have
	Threads  int    // threads an SM holds
	Cluster  int    // most blocks of a cluster, 1: none
	Features map[Feature]Status
	Proxy    string // for sm_90a-as-120: the target whose lowering it has
}

// lowered are the features that gotile emits instructions of, on every target that has them.
var lowered = map[Feature]bool{Atomics: true, CpAsync: true, Cluster: true}

// cases are those that run all of a feature; receipts in their package say where they ran.
var cases = map[Feature]string{
	Atomics: "internal/optest op/atomic_*",
	CpAsync: "internal/optest op/copy_async/*",
	Cluster: "internal/optest op/cluster_*",
}

// Has reports whether the hardware has a feature.
func (t *Target) Has(f Feature) bool { return t.Features[f].Hardware }

const kb = 1024

func row(name string, cc, shared, threads, cluster int, hw ...Feature) *Target {
	t := &Target{Name: name, Arch: name, CC: cc, Shared: shared * kb, Threads: threads, Cluster: cluster, Features: map[Feature]Status{}}
	for _, f := range hw {
		t.Features[f] = Status{Hardware: true, Lowered: lowered[f]}
	}
	return t
}

var table = func() map[string]*Target {
	base := []Feature{Atomics, CpAsync, MMASync, LdMatrix}
	hopper := append(base[:len(base):len(base)], Cluster, TMA, Multicast, StMatrix, SetMaxNReg, Elect)
	// sm_120 has multicast, but slow: it is not used there.
	small := append(base[:len(base):len(base)], Cluster, TMA, StMatrix, SetMaxNReg, Elect)
	ts := []*Target{
		row("sm_80", 80, 163, 2048, 1, base...),
		row("sm_86", 86, 99, 1536, 1, base...),
		row("sm_89", 89, 99, 1536, 1, base...),
		row("sm_90a", 90, 227, 2048, 8, append(hopper[:len(hopper):len(hopper)], WGMMA)...),
		row("sm_100a", 100, 227, 2048, 8, append(hopper[:len(hopper):len(hopper)], TCGen05)...),
		row("sm_103a", 103, 227, 2048, 8, append(hopper[:len(hopper):len(hopper)], TCGen05)...),
		row("sm_120a", 120, 99, 1536, 8, small...),
		row("sm_121a", 121, 99, 1536, 8, small...),
	}
	m := map[string]*Target{}
	for _, t := range ts {
		m[t.Name] = t
	}
	proxy := *m["sm_120a"]
	proxy.Name, proxy.Arch, proxy.CC, proxy.Proxy = "sm_90a-as-120", "sm_90a", 90, "sm_120a"
	proxy.Features = maps.Clone(proxy.Features)
	m[proxy.Name] = &proxy
	for f, ran := range cases {
		verified(m["sm_90a"], f, ran+" on H200")
		verified(&proxy, f, ran+" on H200")
		verified(m["sm_120a"], f, ran+" by proxy: sm_90a-as-120 on H200")
	}
	return m
}()

// verified notes which test ran a feature of a target.
func verified(t *Target, f Feature, by string) {
	s := t.Features[f]
	s.Verified = by
	t.Features[f] = s
}

// Names lists the targets in the order of their compute capability, the proxy last.
func Names() []string {
	var out []string
	for n := range table {
		out = append(out, n)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := table[out[i]], table[out[j]]
		if (a.Proxy == "") != (b.Proxy == "") {
			return a.Proxy == ""
		}
		return a.CC < b.CC
	})
	return out
}

// Select lists the targets that a condition holds for, in the order of Names and without the proxies.
func Select(cond func(*Target) bool) []string {
	var out []string
	for _, n := range Names() {
		if t := table[n]; t.Proxy == "" && cond(t) {
			out = append(out, n)
		}
	}
	return out
}

// Lookup finds a target by name.
func Lookup(name string) (*Target, error) {
	if t := table[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("unknown target %q; have %s", name, strings.Join(Names(), ", "))
}
