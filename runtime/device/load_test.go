package device

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

func TestLoadOnce(t *testing.T) {
	t.Setenv(env.Cache, "off")
	drv, comp := newFake(fake.H200), &fakeCompiler{}
	d := opened(t, "cuda:0", withFake(drv, comp))
	k := scaleKernel()
	var wg sync.WaitGroup
	funcs := make([]*Func, 8)
	for i := range funcs {
		wg.Go(func() { funcs[i] = must(d.Load(k)) })
	}
	wg.Wait()
	for _, f := range funcs {
		if f != funcs[0] {
			t.Error("two Funcs of one Kernel")
		}
	}
	if comp.compiled.Load() != 1 || drv.Count("cuModuleLoadData") != 1 {
		t.Errorf("compiled %d times, loaded %d times", comp.compiled.Load(), drv.Count("cuModuleLoadData"))
	}
	if funcs[0].Kernel() != k || funcs[0].Device() != d {
		t.Error("Kernel or Device")
	}
}

func TestLoadRefuses(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		for _, c := range []struct {
			change func(k *Kernel)
			target error
			words  []string
		}{
			{func(k *Kernel) { k.Targets = []string{"sm_80", "sm_100a"} }, ErrTarget, []string{"scale", d.Target().Name, "sm_80, sm_100a"}},
			{func(k *Kernel) { k.Threads = 48 }, ErrTarget, []string{"scale", "48 threads"}},
			{func(k *Kernel) { k.Threads = 1056 }, ErrTarget, []string{"1056 threads"}},
			{func(k *Kernel) { k.Shared = 300 << 10 }, ErrTarget, []string{"scale", "307200 bytes of shared memory"}},
			{func(k *Kernel) { k.ArgBytes = 5000 }, ErrTarget, []string{"5000 bytes of arguments"}},
		} {
			k := scaleKernel()
			c.change(k)
			_, err := d.Load(k)
			is(t, err, c.target, append(c.words, d.Name())...)
		}
		k := scaleKernel()
		k.Targets = []string{"sm_80", d.Target().Name}
		must(d.Load(k))
		if _, err := d.Load(&Kernel{Threads: 32}); err == nil {
			t.Error("a kernel without a name is accepted")
		}
		if _, err := d.Load(nil); err == nil {
			t.Error("a nil kernel is accepted")
		}
	})
}

// The proxy target compiles for Hopper what sm_120a would run, within sm_120a's shared memory.
func TestProxyTarget(t *testing.T) {
	t.Setenv(env.Cache, "off")
	comp := &fakeCompiler{}
	d := opened(t, "cuda:0", withFake(newFake(fake.H200), comp), WithTarget("sm_90a-as-120"))
	if n := d.Info().SharedPerBlock; n != 99<<10 {
		t.Errorf("%d bytes of shared memory", n)
	}
	k := scaleKernel()
	k.Targets, k.Shared = []string{"sm_120a"}, 99<<10
	must(d.Load(k))
	if comp.arch.Load() != "sm_90a" {
		t.Errorf("compiled for %v", comp.arch.Load())
	}
	k = scaleKernel()
	k.Targets = []string{"sm_90a"}
	_, err := d.Load(k)
	is(t, err, ErrTarget, "sm_90a-as-120")
	k = scaleKernel()
	k.Shared = 100 << 10
	_, err = d.Load(k)
	is(t, err, ErrTarget, "sm_90a-as-120 has 101376")
}

func TestLoadFailures(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	drv, comp := newFake(fake.H200), &fakeCompiler{err: errors.New("scale.cu:4: no such variable")}
	d := opened(t, "cuda:0", withFake(drv, comp))
	k := scaleKernel()
	_, err := d.Load(k)
	is(t, err, comp.err, "kernel scale", "cuda:0")
	comp.err = nil
	must(d.Load(k)) // a failure is not remembered

	missing := scaleKernel()
	missing.Name = "scalar"
	_, err = d.Load(missing)
	is(t, err, driver.NotFound, "kernel scalar", "cuModuleGetFunction")
	if live := drv.Live(); live["module"] != 1 {
		t.Errorf("%d modules stay loaded, want that of scale", live["module"])
	}
	if _, err := opened(t, "cuda:0", withFake(drv, comp), func(c *config) {
		c.nvrtc = func() (compiler, error) { return nil, errors.New("libnvrtc not found") }
	}).Load(k); err == nil || !strings.Contains(err.Error(), "libnvrtc not found") {
		t.Errorf("without a compiler: %v", err)
	}
}

func TestStaleGeneratedFile(t *testing.T) {
	d := opened(t, "sim")
	for name, change := range map[string]func(k *Kernel){
		"threads":   func(k *Kernel) { k.Threads = 128 },
		"arguments": func(k *Kernel) { k.ArgBytes = 16 },
		"shared":    func(k *Kernel) { k.Shared = 16 },
		"name":      func(k *Kernel) { k.Name = "scales" },
	} {
		k := scaleKernel()
		change(k)
		if _, err := d.Load(k); err == nil || !strings.Contains(err.Error(), "run go generate") {
			t.Errorf("%s differ: %v", name, err)
		}
	}
	k := scaleKernel()
	k.Build = func() (Program, error) { return nil, errors.New("no kernel of this name") }
	_, err := d.Load(k)
	if err == nil || !strings.Contains(err.Error(), "no kernel of this name") {
		t.Errorf("Build fails: %v", err)
	}
	k = scaleKernel()
	k.Build = nil
	if _, err := d.Load(k); err == nil || !strings.Contains(err.Error(), "no Build") {
		t.Errorf("no Build: %v", err)
	}
}

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"NVIDIA H200": "h200", "NVIDIA H100 80GB HBM3": "h100", "NVIDIA A100-SXM4-80GB": "a100", "NVIDIA H200 MIG 1g.18gb": "h200",
		"NVIDIA GeForce RTX 5090": "rtx5090", "NVIDIA GeForce RTX 5070 Ti": "rtx5070ti", "NVIDIA GeForce RTX 4090 Laptop GPU": "rtx4090",
		"NVIDIA RTX PRO 6000 Blackwell Workstation Edition": "rtxpro6000", "NVIDIA RTX 6000 Ada Generation": "rtx6000ada",
		"Tesla T4": "t4", "NVIDIA L40S": "l40s", "NVIDIA GB200": "gb200", "": "gpu",
	} {
		if got := shortName(name); got != want {
			t.Errorf("shortName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestTargetFor(t *testing.T) {
	for cc, want := range map[int]string{80: "sm_80", 86: "sm_86", 87: "sm_86", 89: "sm_89", 90: "sm_90a", 100: "sm_100a", 103: "sm_103a", 120: "sm_120a", 121: "sm_121a", 75: "", 110: ""} {
		got, err := targetFor(cc/10, cc%10)
		if want == "" {
			is(t, err, ErrTarget)
		} else if err != nil || got.Name != want {
			t.Errorf("compute capability %d: %v, %v; want %s", cc, got, err, want)
		}
	}
}

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]string{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Wed Aug 27 2025\nGCC version: gcc 12.2.0\n": "580.82.07",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n":                   "570.86.15",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  595.10  Mon\n":                                         "595.10",
		"something else": "",
	} {
		if got := parseRelease([]byte(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
