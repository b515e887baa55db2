//go:build !gotilegen

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/device"
)

// writers are the beginnings of the names of the kernels that write each result. Where rows are short and few, one kernel
// writes both gradients.
var writers = map[string][]string{"y": {"rmsnorm_fwd_"}, "rstd": {"rmsnorm_fwd_"}, "dx": {"rmsnorm_bwd_"}, "dw": {"rmsnorm_dw_", "rmsnorm_bwd_one_"}}

// attribute adds to each result the kernel that wrote it, from what the device has counted.
func attribute(results []result, d *device.Device) []result {
	launches := d.Launches()
	for i := range results {
		for name, count := range launches {
			for _, prefix := range writers[results[i].what] {
				if strings.HasPrefix(name, prefix) {
					results[i].kernel, results[i].launches = name, count
				}
			}
		}
	}
	return results
}

// showCUDA builds the forward kernel that ran, prints it as CUDA C and shows the part between load and store.
func showCUDA(stdout io.Writer, d *device.Device, results []result) error {
	name := results[0].kernel
	k, err := rmsnorm.Kernels().Build(name)
	if err != nil {
		return err
	}
	lowered, err := k.Lower(d.Target().Name)
	if err != nil {
		return err
	}
	text, err := cuda.Print(lowered, cuda.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "kernels/rmsnorm/forward.go becomes %s.cu, %d lines. Its arithmetic:\n\n%s\n", name, strings.Count(text, "\n"), arithmetic(text))
	return nil
}

// arithmetic is what a forward kernel does between its last load and its first store.
func arithmetic(text string) string {
	_, body, _ := strings.Cut(text, "extern \"C\"")
	body, _, _ = strings.Cut(body, "\n\n    // store y\n")
	if i := strings.Index(body, "    float sum "); i >= 0 {
		body = body[i:]
	}
	return body + "\n"
}

// report prints the table and fails when a result is off.
func report(stdout io.Writer, d *device.Device, p *problem, results []result) error {
	info := d.Info()
	fmt.Fprintf(stdout, "RMSNorm of x %v[%d, %d], w %v[%d] on %s (%s), target %s\n\n", typeX, p.rows, p.n, typeW, p.n, d.Name(), info.Name, d.Target().Name)
	w := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "pass\tresult\tworst error\tbar\tkernel\tlaunches")
	var bad []string
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%s\t%.1e\t%.1e\t%s\t%d\n", r.pass, r.what, r.worst, r.bar, r.kernel, r.launches)
		if !(r.worst <= r.bar) { // NaN fails too
			bad = append(bad, r.what)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if bad != nil {
		return errors.New(strings.Join(bad, ", ") + " differ from float64 by more than the bar")
	}
	fmt.Fprintln(stdout, "\nall results agree with float64")
	return nil
}
