// Package caps is the capability table: for each GPU target and feature whether the hardware has it, whether gotile
// lowers it, and by which test on which GPU it was verified. The last column is not written down anywhere: it is
// counted from the receipts that gotile verify keeps of package optest.
package caps

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/optest/receipts"
	"github.com/gotile/gotile/internal/target"
)

// suite is the package whose cases verify features.
const suite = "internal/optest"

// cases are, by feature, how the names of the cases begin that run it on a GPU. A feature that gotile lowers has some.
var cases = map[target.Feature]string{
	target.Base:    "op/",
	target.Atomics: "op/atomic_",
	target.CpAsync: "op/copy_async/",
	target.Cluster: "op/cluster_",

	target.MBarrier: "op/mbar_", target.MBarrierTx: "op/mbar_arrive_tx/", target.Bulk: "op/copy_bulk/", target.GridDep: "op/wait_prerequisites/",
	target.SetMaxNReg: "op/set_max_regs/", target.Elect: "op/elect/",
	target.MMASync: "op/mma/", target.MMAFloat8: "op/mma/square/e", target.LdMatrix: "op/load_matrix/", target.StMatrix: "op/store_matrix/", target.WGMMA: "op/mma/group_",
	target.TMA: "op/store_tensor/", target.TMACTA: "op/copy_tensor/", target.Multicast: "op/multicast_tensor/",
}

// Row is a feature on a target.
type Row struct {
	Feature target.Feature `json:"feature"`
	Target  string         `json:"target"`
	target.Status
	Verified []Evidence `json:"verified"`
}

// Evidence is what ran a feature of a target.
type Evidence struct {
	GPU   string `json:"gpu"`   // "NVIDIA H200"
	As    string `json:"as"`    // the target it was compiled for
	Proxy bool   `json:"proxy"` // another target than the row's, with its lowering
	Test  string `json:"test"`  // the package and the cases' names: internal/optest op/atomic_*
	Cases int    `json:"cases"` // that ran and passed
}

// String is "44 cases of internal/optest op/atomic_* on NVIDIA H200", with how where it was by proxy.
func (e Evidence) String() string {
	s := fmt.Sprintf("%d cases of %s on %s", e.Cases, e.Test, e.GPU)
	if e.Proxy {
		return "by proxy, as " + e.As + ": " + s
	}
	return s
}

// Cell is the row in a word: verified, proxy, lowered, hardware, avoided, or - where the chip has not got it.
func (r Row) Cell() string {
	switch {
	case !r.Hardware:
		return "-"
	case r.Avoided != "":
		return "avoided"
	case slices.ContainsFunc(r.Verified, func(e Evidence) bool { return !e.Proxy }):
		return "verified"
	case len(r.Verified) > 0:
		return "proxy"
	case r.Lowered:
		return "lowered"
	}
	return "hardware"
}

// Of gives the rows of a target, in the order of target.Features.
func Of(name string) ([]Row, error) {
	t, err := target.Lookup(name)
	if err != nil {
		return nil, err
	}
	runs, err := read(receipts.Files)
	if err != nil {
		return nil, err
	}
	return rows(t, runs), nil
}

func rows(t *target.Target, runs []run) []Row {
	var out []Row
	for _, f := range target.Features() {
		r := Row{Feature: f, Target: t.Name, Status: t.Features[f], Verified: []Evidence{}}
		if prefix := cases[f]; prefix != "" && r.Hardware {
			r.Verified = append(r.Verified, evidence(t, prefix, runs)...)
		}
		out = append(out, r)
	}
	return out
}

// run is the cases that passed on one GPU as one target.
type run struct {
	gpu, target string
	cases       map[string]bool
}

// read collects receipts.
func read(files fs.FS) ([]run, error) {
	paths, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, err
	}
	var out []run
	for _, p := range paths {
		text, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, err
		}
		var receipt struct {
			Device  string
			Kernels []struct {
				Target string
				Ran    []string
			}
		}
		if err := json.Unmarshal(text, &receipt); err != nil {
			return nil, fmt.Errorf("receipt %s: %w", path.Join(suite, "receipts", p), err)
		}
		for _, k := range receipt.Kernels {
			i := slices.IndexFunc(out, func(r run) bool { return r.gpu == receipt.Device && r.target == k.Target })
			if i < 0 {
				out, i = append(out, run{receipt.Device, k.Target, map[string]bool{}}), len(out)
			}
			for _, c := range k.Ran {
				out[i].cases[c] = true
			}
		}
	}
	return out, nil
}

// evidence lists the runs that hold cases of a target: its own, then those of targets with its lowering.
func evidence(t *target.Target, prefix string, runs []run) []Evidence {
	var own, proxies []Evidence
	for _, r := range runs {
		n := 0
		for c := range r.cases {
			if strings.HasPrefix(c, prefix) {
				n++
			}
		}
		as, err := target.Lookup(r.target)
		e := Evidence{GPU: r.gpu, As: r.target, Test: suite + " " + prefix + "*", Cases: n}
		switch {
		case n == 0 || err != nil: // a receipt may name a target that is no more
		case r.target == t.Name:
			own = append(own, e)
		case as.Proxy == t.Name:
			e.Proxy = true
			proxies = append(proxies, e)
		}
	}
	return append(own, proxies...)
}
