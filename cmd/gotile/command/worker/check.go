package worker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/internal/target"
)

var checkCommand = &Command{
	Name:  "check",
	Short: "compile the generated kernels for every target they claim",
	Long: `
Check compiles the .cu files of each package with NVRTC, for every target that the kernels claim or for those named,
and prints registers and spills a thread and shared memory a block, the share of a multiprocessor's threads that such
blocks can fill, and of products of matrices the instructions that were chosen, wgmma or mma.sync with shape and type;
of f32 also the accuracy, and where operands go through plain loads of shared memory or a copy. Where nvdisasm is
found, in the search path or beside NVRTC, it counts these (HGMMA, HMMA) and tensor copies (UTMALDG) in the machine
code. It fails on errors and on warnings that mean slow code: an ignored setmaxnreg, a serialised wgmma. The result of
a kernel that keeps registers in memory for their number is "spills" instead of "ok", and fails nothing. It needs
libnvrtc, but no GPU. The files are compiled as they are; that one is not what its kernel prints now is a failure,
too. With -c, the program for a machine with another NVRTC compiles what the kernels print, and knows which files were
something else when it was built.

Examples:

	gotile check -target sm_90a,sm_120a ./kernels/...
	gotile check -c rmsnorm.check ./kernels/rmsnorm`,
	flags: func(f *flag.FlagSet, o *Options) {
		f.StringVar(&o.Target, "target", "all", "comma-separated `targets`, or all: "+strings.Join(target.Names(), ", "))
	},
	needs: func(*Options) error { _, err := nvrtc.Open(""); return err },
	do:    func(ctx context.Context, j *job) error { return j.check(ctx) },
}

// compilation is one row of check's table.
type compilation struct {
	source *source
	target *target.Target
	text   string       // the committed text; away from the package, what the kernel prints
	same   *compilation // an earlier one of the same text for the same architecture: a proxy's
	result *nvrtc.Result
	sass   string // what was counted in its machine code
	err    error
}

func (j *job) check(ctx context.Context) error {
	names, err := parseTargets(j.Target)
	if err != nil {
		return err
	}
	rows, stale, err := j.compilations(ctx, names)
	if err != nil {
		return err
	}
	lib, err := nvrtc.Open("")
	if err != nil {
		return err
	}
	j.compileAll(ctx, lib, rows)
	if ctx.Err() != nil {
		return progress.ErrInterrupted
	}
	return j.report(rows, stale)
}

// parseTargets reads -target; nil stands for all.
func parseTargets(list string) ([]string, error) {
	if list == "all" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for i, n := range names {
		names[i] = strings.TrimSpace(n)
		if _, err := target.Lookup(names[i]); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// compilations pairs each committed .cu with its targets, and says which of them are stale.
func (j *job) compilations(ctx context.Context, names []string) (rows []*compilation, stale []string, err error) {
	families, err := j.lowered(ctx)
	if err != nil {
		return nil, nil, err
	}
	type job struct{ text, arch string }
	first := map[job]*compilation{}
	for _, s := range slices.Concat(families...) {
		text, committed, err := j.committed(s)
		if err != nil {
			return nil, nil, err
		}
		if why := staleness(s, committed); why != "" {
			stale = append(stale, why)
		}
		for _, name := range s.Targets {
			if names != nil && !slices.Contains(names, name) {
				continue
			}
			t, err := target.Lookup(name)
			if err != nil {
				return nil, nil, err
			}
			c := &compilation{source: s, target: t, text: text}
			if key := (job{c.text, t.Arch}); first[key] == nil {
				first[key] = c
			} else {
				c.same = first[key]
			}
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("no kernel claims %s", strings.Join(names, " or "))
	}
	return rows, stale, nil
}

// committed is the text of a .cu file and its sum. A program that travels has no files: it has the sums, and the text
// that its kernel prints, which is the same unless the sum says that it is stale; so has a kernel of which nothing else is
// committed.
func (j *job) committed(s *source) (text, hash string, err error) {
	if j.Travels || s.hashed {
		return s.text, j.Sources[s.File], nil
	}
	file, err := os.ReadFile(filepath.Join(j.Dir, gowrap.Folder, s.File))
	if err != nil {
		return "", "", fmt.Errorf("kernel %s is not generated: %w; run: gotile gen", s.Kernel.Name, err)
	}
	return string(file), sum(string(file)), nil
}

// compileAll compiles the rows on all cores.
func (j *job) compileAll(ctx context.Context, lib *nvrtc.Library, rows []*compilation) {
	var own []*compilation
	for _, c := range rows {
		if c.same == nil {
			own = append(own, c)
		}
	}
	name := func(i int) string { return own[i].source.Kernel.Name + " for " + own[i].target.Name }
	nvdisasm := disassembler(lib)
	j.parallel(ctx, "compiling", "kernels", len(own), cores(), name, func(i int) {
		own[i].compile(lib, j.place)
		own[i].disassemble(nvdisasm)
	})
	for _, c := range rows {
		if c.same != nil {
			c.result, c.sass, c.err = c.same.result, c.same.sass, c.same.err
		}
	}
}

func (c *compilation) compile(lib *nvrtc.Library, place func(file string) string) {
	if have := lib.Targets(); !slices.Contains(have, c.target.CC) {
		major, minor := lib.Version()
		c.err = fmt.Errorf("NVRTC %d.%d does not compile for %s; install a newer one, or leave the target out with -target", major, minor, c.target.Arch)
		return
	}
	c.result, c.err = lib.Compile(c.text, c.source.File, nvrtc.Options{Arch: c.target.Arch})
	var compileErr *nvrtc.CompileError
	if errors.As(c.err, &compileErr) {
		c.locate(lib, place)
		return
	}
	if c.err == nil {
		if bad := nvrtc.Fatal(c.result.Log); bad != nil {
			c.err = fmt.Errorf("warnings that fail:\n%s", strings.Join(bad, "\n"))
		}
	}
}

// disassemble counts instructions of a kernel with products of matrices or tensor copies.
func (c *compilation) disassemble(nvdisasm string) {
	c.sass = "-"
	if c.err != nil || nvdisasm == "" || c.source.multiplies() == "-" && !strings.Contains(c.text, "cp.async.bulk.tensor") {
		return
	}
	c.sass, c.err = count(nvdisasm, c.result.CUBIN)
}

// locate replaces an error in the .cu by the same error at the line of Go that the text comes from, if the printing
// with line markers fails too. The markers name files by place.
func (c *compilation) locate(lib *nvrtc.Library, place func(file string) string) {
	text, err := c.source.lined(place)
	if err != nil {
		return
	}
	if _, err := lib.Compile(text, c.source.File, nvrtc.Options{Arch: c.target.Arch, Lines: true}); err != nil {
		c.err = err
	}
}

// report prints the table, then the failures with their whole logs, then the stale files.
func (j *job) report(rows []*compilation, stale []string) error {
	w := tabwriter.NewWriter(j.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "kernel\ttarget\tthreads\tregisters\tshared\tspill\toccupancy\tmma\tSASS\tresult")
	failed, spilled := 0, 0
	for _, c := range rows {
		k := c.source.Kernel
		if c.err != nil {
			failed++
			fmt.Fprintf(w, "%s\t%s\t%d\t\t\t\t\t\t\tFAIL\n", k.Name, c.target.Name, k.Threads)
			continue
		}
		result := "ok"
		if c.result.Spill > 0 {
			result = "spills"
			spilled++
		}
		shared := k.SharedBytes + c.result.SharedStatic
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d%%\t%s\t%s\t%s\n", k.Name, c.target.Name, k.Threads, c.result.Registers, shared, c.result.Spill,
			occupancy(c.target, k.Threads, c.result.Registers, shared), c.source.multiplies(), c.sass, result)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range rows {
		if c.err != nil {
			j.printf("\n%s for %s: %+v\n", c.source.Kernel.Name, c.target.Name, c.err)
		}
	}
	if failed > 0 {
		j.printf("%d of %d compilations failed\n", failed, len(rows))
	}
	if spilled > 0 {
		j.printf("%d of %d compilations spill registers\n", spilled, len(rows))
	}
	for _, why := range stale {
		j.printf("STALE %s\n", why)
	}
	if failed > 0 || len(stale) > 0 {
		return errFailed
	}
	return nil
}
