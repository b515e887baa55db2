package device

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/image"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// scaleCode is the test kernel compiled for a target: by NVRTC where there is one, else some bytes.
func scaleCode(t *testing.T, arch string) []byte {
	t.Helper()
	lib, err := nvrtc.Open("")
	if errors.Is(err, nvrtc.ErrNotFound) || errors.Is(err, errors.ErrUnsupported) {
		return []byte("\x7fELF code for " + arch)
	}
	ok(t, err)
	return must(lib.Compile(scaleSource, "scale.cu", nvrtc.Options{Arch: arch})).CUBIN
}

func sealed(source, options, arch string, code []byte) string {
	return string(image.Seal(image.Origin{Source: source, Options: options, Arch: arch}, "13.0", code))
}

// withoutNVRTC is a machine that has the driver alone.
func withoutNVRTC(c *config) { c.nvrtc = func() (compiler, error) { return nil, nvrtc.ErrNotFound } }

// A program with embedded code runs where there is no NVRTC, and loads just that code.
func TestEmbeddedNeedsTheDriverAlone(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	hopper, blackwell := scaleCode(t, "sm_90a"), scaleCode(t, "sm_120a")
	rtx := fake.Device{Name: "NVIDIA GeForce RTX 5090", Memory: 1 << 28, Major: 12, SMs: 170, ThreadsPerSM: 1536, Shared: 99 << 10}
	for _, c := range []struct {
		gpu    fake.Device
		target string
		want   []byte
	}{{fake.H200, "", hopper}, {rtx, "", blackwell}, {fake.H200, "sm_90a-as-120", hopper}} {
		drv := newFake(c.gpu)
		d := opened(t, "cuda:0", withFake(drv, &fakeCompiler{}), withoutNVRTC, WithTarget(c.target))
		k := scaleKernel()
		k.Embedded = []string{sealed(scaleSource, nvrtc.Options{}.Text(), "sm_90a", hopper), sealed(scaleSource, nvrtc.Options{}.Text(), "sm_120a", blackwell)}
		must(d.Load(k))
		if got := drv.Images(); len(got) != 1 || !bytes.Equal(got[0], c.want) {
			t.Errorf("%s %s loaded %d images, or other code", c.gpu.Name, c.target, len(got))
		}
	}
}

// Code that is not of this source, these options and this GPU is never loaded. With NVRTC the kernel is compiled and
// the log says why; without, the error does.
func TestEmbeddedRefused(t *testing.T) {
	code := []byte("\x7fELF old code")
	options := nvrtc.Options{}.Text()
	good := sealed(scaleSource, options, "sm_90a", code)
	for name, c := range map[string]struct {
		files []string
		words string
		log   bool // as something is wrong
	}{
		"another source": {[]string{sealed(scaleSource+" ", options, "sm_90a", code)}, "compiled from another text of the kernel", true},
		"other options":  {[]string{sealed(scaleSource, options+" ", "sm_90a", code)}, "compiled with other options", true},
		"damaged":        {[]string{good[:len(good)-1]}, "checksum", true},
		"empty":          {[]string{""}, "no compiled code of gotile's", true},
		"another GPU":    {[]string{sealed(scaleSource, options, "sm_120a", code)}, "embedded for sm_120a only; gotile gen -cubin sm_120a,sm_90a adds this GPU's", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(env.Cache, t.TempDir())
			k := scaleKernel()
			k.Embedded = c.files
			drv, comp, log := newFake(fake.H200), &fakeCompiler{}, &bytes.Buffer{}
			d := opened(t, "cuda:0", withFake(drv, comp), WithLogger(slog.New(slog.NewTextHandler(log, nil))))
			must(d.Load(k))
			if got := drv.Images(); len(got) != 1 || bytes.Contains(got[0], code) || comp.compiled.Load() != 1 {
				t.Errorf("the embedded code was loaded, or nothing was compiled")
			}
			if said := strings.Contains(log.String(), c.words); said != c.log {
				t.Errorf("the log says %q", log)
			}
			d = opened(t, "cuda:0", withFake(newFake(fake.H200), comp), withoutNVRTC)
			_, err := d.Load(k)
			is(t, err, nvrtc.ErrNotFound, c.words, "gotile gen -cubin")
		})
	}
}

// Tools that name the compiler in their results compile everything.
func TestWithoutEmbedded(t *testing.T) {
	k, drv, comp := scaleKernel(), newFake(fake.H200), &fakeCompiler{}
	k.Embedded = []string{sealed(scaleSource, nvrtc.Options{}.Text(), "sm_90a", []byte("embedded"))}
	t.Setenv(env.Cache, t.TempDir())
	d := opened(t, "cuda:0", withFake(drv, comp), WithoutEmbedded())
	must(d.Load(k))
	if got := drv.Images(); comp.compiled.Load() != 1 || bytes.Contains(got[0], []byte("embedded")) {
		t.Error("the embedded code was loaded")
	}
}
