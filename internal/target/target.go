// Package target is the capability record of each GPU target: what its hardware has and what gotile lowers. What was
// verified, where and by which test, follows from receipts: package internal/caps has all three columns.
package target

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Feature is something a kernel can ask for beyond the common ground: what sm_80 and all later chips have, such as
// 16-byte loads and shuffles, is no feature. Base and Atomics are listed although all have them, for the record of what
// ran.
type Feature string

// The features.
const (
	Base       Feature = "base"
	Atomics    Feature = "atomics"
	CpAsync    Feature = "cp.async"
	Cluster    Feature = "cluster"
	TMA        Feature = "tma"
	TMACTA     Feature = "tma-shared-cta"
	Multicast  Feature = "tma-multicast"
	WGMMA      Feature = "wgmma"
	MMASync    Feature = "mma.sync"
	MMAFloat8  Feature = "mma.sync-fp8"
	LdMatrix   Feature = "ldmatrix"
	StMatrix   Feature = "stmatrix"
	SetMaxNReg Feature = "setmaxnreg"
	Elect      Feature = "elect"
	TCGen05    Feature = "tcgen05"
	MBarrier   Feature = "mbarrier"
	MBarrierTx Feature = "mbarrier-tx"
	Bulk       Feature = "cp.async.bulk"
	GridDep    Feature = "griddepcontrol"
)

// features are all of them with one line each, in the order of tables.
var features = []struct {
	name Feature
	doc  string
}{
	{Base, "loads, stores, arithmetic, shuffles, reductions, block barriers"},
	{Atomics, "32- and 64-bit integer and f32 atomics on global memory"},
	{CpAsync, "asynchronous copies of 4, 8 or 16 bytes from global to shared memory"},
	{Cluster, "thread-block clusters, distributed shared memory"},
	{TMA, "bulk tensor copies, with a shared::cluster destination"},
	{TMACTA, "bulk tensor copies with a shared::cta destination"},
	{Multicast, "one bulk tensor copy into several blocks of a cluster"},
	{WGMMA, "asynchronous matrix multiply of a warpgroup"},
	{MMASync, "matrix multiply of a warp"},
	{MMAFloat8, "matrix multiply of a warp, of 8-bit floats (e4m3, e5m2)"},
	{LdMatrix, "loads of matrix fragments from shared memory"},
	{StMatrix, "stores of matrix fragments to shared memory"},
	{SetMaxNReg, "registers moved between warpgroups"},
	{Elect, "election of one lane of a warp"},
	{TCGen05, "tensor memory and its asynchronous matrix multiply"},
	{MBarrier, "barriers in shared memory with phases"},
	{MBarrierTx, "mbarriers that count bytes and arrivals by number, and waits that suspend"},
	{GridDep, "programmatic dependent launch: a kernel that begins before the one ahead of it is over"},
	{Bulk, "asynchronous copies of up to whole tiles by one thread, between global and shared memory"},
}

// Features lists the features in the order of tables.
func Features() []Feature {
	var out []Feature
	for _, f := range features {
		out = append(out, f.name)
	}
	return out
}

// Doc says in one line what the feature is; empty where there is none of that name.
func (f Feature) Doc() string {
	for _, row := range features {
		if row.name == f {
			return row.doc
		}
	}
	return ""
}

// Status is what is known of a feature on a target.
type Status struct {
	Hardware bool   `json:"hardware"`          // the chip has it
	Lowered  bool   `json:"lowered"`           // gotile emits it for this target
	Avoided  string `json:"avoided,omitempty"` // why gotile does not use it though the chip has it; empty: it may
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
var lowered = []Feature{Base, Atomics, CpAsync, Cluster, MBarrier, MBarrierTx, Bulk, TMA, TMACTA, Multicast, GridDep, SetMaxNReg, Elect, MMASync, MMAFloat8, LdMatrix, StMatrix, WGMMA}

// Has reports whether a kernel may use a feature: the hardware has it, and nothing speaks against it.
func (t *Target) Has(f Feature) bool {
	s := t.Features[f]
	return s.Hardware && s.Avoided == ""
}

const kb = 1024

func row(name string, cc, shared, threads, cluster int, hw ...Feature) *Target {
	t := &Target{Name: name, Arch: name, CC: cc, Shared: shared * kb, Threads: threads, Cluster: cluster, Features: map[Feature]Status{}}
	for _, f := range hw {
		t.Features[f] = Status{Hardware: true, Lowered: slices.Contains(lowered, f)}
	}
	return t
}

var table = func() map[string]*Target {
	base := []Feature{Base, Atomics, CpAsync, MMASync, LdMatrix, MBarrier}
	ada := append(base[:len(base):len(base)], MMAFloat8)
	hopper := append(ada[:len(ada):len(ada)], Cluster, TMA, TMACTA, Multicast, StMatrix, SetMaxNReg, Elect, MBarrierTx, Bulk, GridDep)
	ts := []*Target{
		row("sm_80", 80, 163, 2048, 1, base...),
		row("sm_86", 86, 99, 1536, 1, base...),
		row("sm_89", 89, 99, 1536, 1, ada...),
		row("sm_90a", 90, 227, 2048, 8, append(hopper[:len(hopper):len(hopper)], WGMMA)...),
		row("sm_100a", 100, 227, 2048, 8, append(hopper[:len(hopper):len(hopper)], TCGen05)...),
		row("sm_103a", 103, 227, 2048, 8, append(hopper[:len(hopper):len(hopper)], TCGen05)...),
		row("sm_120a", 120, 99, 1536, 8, hopper...),
		row("sm_121a", 121, 99, 1536, 8, hopper...),
	}
	m := map[string]*Target{}
	for _, t := range ts {
		m[t.Name] = t
	}
	for _, name := range []string{"sm_120a", "sm_121a"} {
		m[name].Features[Multicast] = Status{Hardware: true, Avoided: "slow: ptxas warns of substantially reduced performance"}
	}
	proxy := *m["sm_120a"]
	proxy.Name, proxy.Arch, proxy.CC, proxy.Proxy = "sm_90a-as-120", "sm_90a", 90, "sm_120a"
	proxy.Features = maps.Clone(proxy.Features)
	m[proxy.Name] = &proxy
	return m
}()

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

// RunsOn reports whether a chip of a compute capability runs the target's code. That of an architecture-specific target
// (a name with an a) runs on its own capability only, other code on newer chips of the same major version too.
func (t *Target) RunsOn(major, minor int) bool {
	cc := 10*major + minor
	if strings.HasSuffix(t.Arch, "a") {
		return t.CC == cc
	}
	return t.CC/10 == major && t.CC <= cc
}

// For is the target of a compute capability: the newest whose code it runs. Nil where there is none.
func For(major, minor int) *Target {
	var best *Target
	for _, name := range Names() {
		if t := table[name]; t.Proxy == "" && t.RunsOn(major, minor) && (best == nil || t.CC > best.CC) {
			best = t
		}
	}
	return best
}
