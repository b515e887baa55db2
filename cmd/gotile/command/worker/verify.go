package worker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/runtime/device"
)

var verifyCommand = &Command{
	Name:  "verify",
	Short: "run the test cases on the GPU and keep receipts",
	Long: `
Verify runs the cases of each package on cuda:0, for the GPU's own target and for targets that it stands in for
(sm_90a-as-120 on compute capability 9.0), and writes receipts/GPU.json in the package: for each kernel the hashes of
its .cu and of its launch, the number of cases and the worst errors. Kernels whose receipt is fresh are not run again.
A kernel of a case that fails loses its receipt. With -run, and of a target whose cases were interrupted by Ctrl-C,
nothing but such losses is written; targets that were done before are kept. Kernels are compiled
on all cores, and -p cases run at the same time, except those that ask to run alone; what is printed and written is
in the order of the table. Programs built with -tags gorgonia, which drive the GPU by gorgonia.org/cu, keep a receipt of
their own, receipts/GPU-gorgonia.json.

With -check it runs nothing and needs no GPU: it fails for every kernel without a fresh record in each receipt, for
every target that the receipt's GPU stands for and the kernel claims.

With -compile it runs nothing and needs no GPU either: it compiles the kernels into the cache. The cache's directory may
travel with the program of -c to a machine whose NVRTC is of the same version, which then compiles nothing.

Examples:

	gotile verify ./kernels/rmsnorm
	gotile verify -check ./...
	GOTILE_CACHE=$PWD/cubins gotile verify -compile sm_90a ./kernels/rmsnorm
	gotile verify -c rmsnorm.verify ./kernels/rmsnorm   # then, on the machine with the GPU: ./rmsnorm.verify -out receipts
	gotile verify -tags gorgonia -c rmsnorm.verify ./kernels/rmsnorm   # it links dynamically, with libcuda.so.1 and libc`,
	Runs:  true,
	Vouch: true,
	flags: func(f *flag.FlagSet, o *Options) {
		f.BoolVar(&o.Check, "check", false, "only compare the receipts with the kernels")
		f.StringVar(&o.Compile, "compile", "", "only compile the kernels into the cache, for GPUs of an `architecture`: sm_90a")
		f.BoolVar(&o.Force, "f", false, "run kernels with a fresh receipt, too")
		f.BoolVar(&o.Verbose, "v", false, "print every case with its kernels and errors")
		f.IntVar(&o.Parallel, "p", min(cores(), maxRunning), "`number` of cases to run at the same time")
		f.StringVar(&o.Run, "run", "", "run only the cases that match `regexp`, and write no new receipts")
		f.StringVar(&o.Out, "out", "", "`directory` of the receipts; default: receipts in the package")
	},
	needs: func(o *Options) error {
		if o.Check || o.Compile != "" {
			return nil
		}
		d, err := openGPU(verifyDevice)
		if err != nil {
			return err
		}
		return d.Close()
	},
	do: func(ctx context.Context, j *job) error {
		if j.Check {
			return j.verifyCheck(ctx)
		}
		if j.Compile != "" {
			return j.fillCache(ctx)
		}
		return j.verify(ctx, verifyDevice)
	},
}

// maxRunning is the default of -p where there are as many cores. More cases wait for one driver and one GPU.
const maxRunning = 8

// verifyDevice is what verify runs on.
const verifyDevice = "cuda:0"

func openGPU(name string) (*device.Device, error) {
	d, err := device.Open(name)
	if err != nil {
		return nil, fmt.Errorf("verify needs a GPU (gotile sim does not): %w", err)
	}
	return d, nil
}

// verifySeed is the seed of the cases' data; receipts of one table are comparable.
const verifySeed = 1

// verify runs the cases on a device for each of its targets and keeps the receipt.
func (j *job) verify(ctx context.Context, name string) error {
	if j.Parallel < 1 {
		return fmt.Errorf("-p %d: at least one case runs at a time", j.Parallel)
	}
	sources, err := j.generated(ctx)
	if err != nil {
		return err
	}
	cases, err := j.selected()
	if err != nil {
		return err
	}
	dir, err := j.receiptDir()
	if err != nil {
		return err
	}
	d, err := openGPU(name)
	if err != nil {
		return err
	}
	info, own := d.Info(), d.Target()
	if err := d.Close(); err != nil {
		return err
	}
	path := filepath.Join(dir, info.Label()+".json")
	receipt, err := readReceipt(path)
	if err != nil {
		return err
	}
	variable := otherTexts()
	if variable != "" {
		fmt.Fprintf(j.stderr, "gotile: verify: with %s other texts than the committed ones are compiled: no receipt is written\n", variable)
	}
	failed, start := false, time.Now()
	for _, t := range standsFor(own) {
		v := &verification{job: j, target: t, receipt: receipt}
		for _, s := range sources {
			if slices.Contains(s.Targets, t) {
				v.sources = append(v.sources, s)
			}
		}
		stop := v.run(ctx, name, cases)
		if stop != nil && !errors.Is(stop, progress.ErrInterrupted) {
			return stop
		}
		if v.changed && variable == "" {
			receipt.ranOn(info, own)
			receipt.Commit, receipt.Command, receipt.Seconds = j.Commit, j.command(), time.Since(start).Round(time.Millisecond).Seconds()
			if err := receipt.write(path); err != nil {
				return errors.Join(stop, err)
			}
		}
		if stop != nil {
			return stop
		}
		failed = failed || v.failed
	}
	if failed {
		return errFailed
	}
	return nil
}

// generated are the package's sources, none of which differs from the file that is compiled in.
func (j *job) generated(ctx context.Context) ([]*source, error) {
	families, err := j.lowered(ctx)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(families...)
	if why := j.stale(all); why != nil {
		return nil, errors.New(strings.Join(why, "\n"))
	}
	return all, nil
}

// standsFor lists a target and those that it executes by proxy.
func standsFor(own *target.Target) []string {
	out := []string{own.Name}
	for _, name := range target.Names() {
		if t, err := target.Lookup(name); err == nil && t.Proxy != "" && t.Arch == own.Arch && name != own.Name {
			out = append(out, name)
		}
	}
	return out
}

// command is the command line as it stands in a receipt, without paths of this machine.
func (j *job) command() string {
	s := j.tagged("gotile verify")
	if j.Force {
		s += " -f"
	}
	return s + " " + j.Path
}

// worstText prints errors by name.
func worstText(worst map[string]float64) string {
	var s []string
	for _, what := range slices.Sorted(maps.Keys(worst)) {
		s = append(s, fmt.Sprintf("%s=%.2g", what, worst[what]))
	}
	return strings.Join(s, " ")
}

// otherTexts is the variable with which other texts than the committed ones are compiled; empty: none is set.
func otherTexts() string {
	for _, v := range []string{env.Lines, env.Watchdog} {
		if env.On(v) {
			return v
		}
	}
	return ""
}
