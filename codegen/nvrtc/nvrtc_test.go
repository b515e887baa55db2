package nvrtc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const saxpy = `extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
`

func needLibrary(t *testing.T) *Library {
	t.Helper()
	l, err := Open("")
	if errors.Is(err, ErrNotFound) && os.Getenv("CI") != "" {
		t.Fatal(err) // in CI a missing tool is a failure
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("NVRTC is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestVersionAndTargets(t *testing.T) {
	l := needLibrary(t)
	if major, minor := l.Version(); major < 12 || minor < 0 {
		t.Errorf("version %d.%d", major, minor)
	}
	targets := l.Targets()
	if len(targets) == 0 || targets[0] < 50 || targets[len(targets)-1] < 90 {
		t.Errorf("targets %v", targets)
	}
	targets[0] = 0
	if l.Targets()[0] == 0 {
		t.Error("the caller can change the library's list")
	}
}

// TestCompile: a cubin and PTX come out, statistics are read, and contraction is off.
func TestCompile(t *testing.T) {
	r, err := needLibrary(t).Compile(saxpy, "saxpy.cu", Options{Arch: "sm_90a"})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	if !strings.HasPrefix(string(r.CUBIN), "\x7fELF") || !strings.Contains(r.PTX, ".target sm_90a") {
		t.Errorf("cubin of %d bytes, PTX %.80q", len(r.CUBIN), r.PTX)
	}
	if r.Registers < 2 || r.Registers > 64 || r.Spill != 0 || r.SharedStatic != 0 {
		t.Errorf("%d registers, %d bytes spilled, %d shared", r.Registers, r.Spill, r.SharedStatic)
	}
	if strings.Contains(r.PTX, "fma") {
		t.Errorf("the product and the sum were contracted:\n%s", r.PTX)
	}
}

// TestOptionsReachCompiler: Extra is passed on, Lines gives a line table with the Go file.
func TestOptionsReachCompiler(t *testing.T) {
	l := needLibrary(t)
	r, err := l.Compile("#line 7 \"saxpy.go\"\n"+saxpy, "saxpy.cu", Options{Arch: "sm_80", Lines: true, Extra: []string{"--fmad=true"}})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	if !strings.Contains(r.PTX, "saxpy.go") || !strings.Contains(r.PTX, "fma") {
		t.Errorf("no line table, or no contraction, in\n%s", r.PTX)
	}
}

func TestStatisticsOfSpillingKernel(t *testing.T) {
	src := `extern "C" __global__ void __launch_bounds__(1024) spill(float* p, int n) {
  __shared__ float s[256];
  float r[256];
  for (int i = 0; i < 256; i++) r[i] = p[i * n];
  s[threadIdx.x & 255] = r[n & 255];
  __syncthreads();
  for (int i = 0; i < 256; i++) p[i] = r[i] * s[i];
}`
	r, err := needLibrary(t).Compile(src, "spill.cu", Options{Arch: "sm_80"})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	if r.Stack < 1024 || r.SharedStatic != 1024 {
		t.Errorf("stack %d, static shared memory %d:\n%s", r.Stack, r.SharedStatic, r.Log)
	}
}

// TestCompileError: the error speaks of the Go line, and holds the whole log.
func TestCompileError(t *testing.T) {
	l := needLibrary(t)
	for _, c := range []struct {
		src, arch, file, message string
		lines                    bool
	}{
		{"#line 41 \"rmsnorm.go\"\nextern \"C\" __global__ void k() { undeclared(); }\n", "sm_90a", "rmsnorm.go", "undeclared", false},
		{"extern \"C\" __global__ void k() { asm volatile(\"bogus.f32;\"); }\n", "sm_90a", "", "bogus", false},
		{"__device__ __forceinline__ void f() { asm volatile(\"bogus.f32;\"); }\nextern \"C\" __global__ void k() {\n#line 41 \"rmsnorm.go\"\nf(); }\n", "sm_90a", "rmsnorm.go", "bogus", true},
		{"extern \"C\" __global__ void k() {\n#line 41 \"kernels/rmsnorm.go\"\nasm volatile(\"bogus.f32;\"); }\n", "sm_90a", "kernels/rmsnorm.go", "bogus", true},
		{saxpy, "sm_1", "", "gpu-architecture", false},
		{"zero \x00 byte", "sm_80", "", "zero byte", false},
	} {
		_, err := l.Compile(c.src, "k.cu", Options{Arch: c.arch, Lines: c.lines})
		var e *CompileError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if !strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), "\n") || e.File != c.file || (e.Line > 0) != (c.file != "") {
			t.Errorf("%q: %s:%d %v", c.src, e.File, e.Line, err)
		}
		if c.file != "" && e.Line != 41 {
			t.Errorf("line %d, want 41", e.Line)
		}
		if full := fmt.Sprintf("%+v", err); !strings.Contains(full, e.Log) || !strings.HasPrefix(full, err.Error()) {
			t.Errorf("%%+v lacks the log: %s", full)
		}
	}
}

// TestConcurrent compiles on several threads with one library, good and bad sources mixed.
func TestConcurrent(t *testing.T) {
	l := needLibrary(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprintf("k%d", i)
			src := strings.ReplaceAll(saxpy, "saxpy", name)
			if i%4 == 3 {
				src = "#line 1 \"" + name + ".go\"\n" + name + ";"
			}
			r, err := l.Compile(src, name+".cu", Options{Arch: "sm_80"})
			if i%4 == 3 {
				if err == nil || !strings.Contains(err.Error(), name+".go:1") {
					t.Errorf("%s: %v", name, err)
				}
			} else if err != nil || !strings.Contains(r.PTX, ".entry "+name+"(") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	wg.Wait()
}

// TestAbsent: a library that was named and is not there is an error that says what to do, not another library.
func TestAbsent(t *testing.T) {
	_, err := Open("/no/such/libnvrtc.so")
	if runtime.GOOS != "linux" || errors.Is(err, errors.ErrUnsupported) {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v", err)
		}
		return
	}
	if !errors.Is(err, ErrNotFound) {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"pip install --upgrade --target ~/.local/share/gotile/nvrtc 'nvidia-cuda-nvrtc==13.0.*'", "gotile doctor", Variable, "/no/such/libnvrtc.so"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}
