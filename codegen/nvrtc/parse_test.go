package nvrtc

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestErrorLog(t *testing.T) {
	for _, c := range []struct {
		log, file string
		line      int
		want      string
	}{
		{"rmsnorm.go(41): error: identifier \"q\" is undefined\n    q();\n    ^\n\n1 error detected in the compilation of \"k.cu\".\n", "rmsnorm.go", 41,
			`rmsnorm.go:41: identifier "q" is undefined (k.cu for sm_90a)`},
		{"k.cu(1): warning #177-D: variable \"x\" was declared but never referenced\n\nk.cu(3): error: first\nk.cu(9): error #20: second\n\n2 errors detected in the compilation of \"k.cu\".\n", "k.cu", 9,
			"k.cu:9: second (k.cu for sm_90a)"},
		{"/dir with (parens)/k.go(7): catastrophic error: cannot go on\n", "/dir with (parens)/k.go", 7, "/dir with (parens)/k.go:7: cannot go on (k.cu for sm_90a)"},
		{"ptxas application ptx input, line 20; error   : Arguments mismatch for instruction 'add'\nptxas fatal   : Ptx assembly aborted due to errors\n", "", 0,
			"ptxas application ptx input, line 20; error   : Arguments mismatch for instruction 'add' (k.cu for sm_90a)"},
		{"nvrtc: error: invalid value for --gpu-architecture (-arch)\n", "", 0, "nvrtc: error: invalid value for --gpu-architecture (-arch) (k.cu for sm_90a)"},
		{"something new\n", "", 0, "something new (k.cu for sm_90a)"},
		{"", "", 0, "NVRTC_ERROR_COMPILATION (k.cu for sm_90a)"},
	} {
		e := newCompileError("k.cu", "sm_90a", "NVRTC_ERROR_COMPILATION", c.log, "")
		if e.Error() != c.want || e.File != c.file || e.Line != c.line || e.Log != c.log {
			t.Errorf("%q:%d: %q, want %q", e.File, e.Line, e.Error(), c.want)
		}
	}
}

func TestStatistics(t *testing.T) {
	r := Result{Log: `ptxas info    : Compiling entry function 'a' for 'sm_90a'
ptxas info    : Function properties for a
    64 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 64 bytes cumulative stack size, 4096 bytes smem, 400 bytes cmem[0]
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
`}
	r.parseStatistics()
	if r.Registers != 128 || r.SharedStatic != 4096 || r.Spill != 48 || r.Stack != 64 {
		t.Errorf("%+v", r)
	}
}

func TestFatal(t *testing.T) {
	log := `ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.
ptxas info    : (C7519) something harmless
k.cu(3): warning #177-D: variable "x" was declared but never referenced
ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized
`
	got := Fatal(log)
	if len(got) != 2 || !strings.Contains(got[0], "C7508") || !strings.Contains(got[1], "C7514") || !strings.Contains(got[1], "serialised") {
		t.Errorf("%q", got)
	}
	for _, code := range []string{"C7506", "C7507", "C7508", "C7511", "C7514", "C7517", "C7518"} {
		if Fatal("ptxas info : ("+code+") x") == nil {
			t.Errorf("%s passes", code)
		}
	}
	if got := Fatal("ptxas info    : Used 40 registers\n"); got != nil {
		t.Errorf("%q", got)
	}
}

// TestCandidates: what is tried, in which order.
func TestCandidates(t *testing.T) {
	files := map[string][]string{
		"/cuda/lib64/libnvrtc.so.*":                                     {"/cuda/lib64/libnvrtc.so.12.9.86", "/cuda/lib64/libnvrtc.so.13", "/cuda/lib64/libnvrtc.so.13.0.88"},
		"/venv/lib/python3*/site-packages/nvidia/cu*/lib/libnvrtc.so.*": {"/venv/libnvrtc.so.13", "/venv/libnvrtc.alt.so.13"},
	}
	glob := func(p string) []string { return files[p] }
	env := map[string]string{"CUDA_HOME": "/cuda", "VIRTUAL_ENV": "/venv", "XDG_DATA_HOME": "/data"}
	lookup := func(k string) string { return env[k] }

	want := append(slices.Clone(loaderNames), "/cuda/lib64/libnvrtc.so.13", "/cuda/lib64/libnvrtc.so.13.0.88", "/cuda/lib64/libnvrtc.so.12.9.86", "/venv/libnvrtc.so.13")
	folders := []string{"/cuda/lib64", "/cuda/targets/*/lib", "/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64"}
	for _, site := range []string{"/data/gotile/*", "/venv/lib/python3*/site-packages", "/usr/local/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages",
		"/usr/lib/python3*/site-packages", "/usr/lib/python3/dist-packages"} {
		folders = append(folders, site+"/nvidia/cu*/lib", site+"/nvidia/cuda_nvrtc/lib")
	}
	got, searched := candidates("", lookup, glob)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !slices.Equal(searched, folders) {
		t.Errorf("searched %q\nwant     %q", searched, folders)
	}
	env[Variable] = "/mine.so"
	if got, searched := candidates("", lookup, glob); !slices.Equal(got, []string{"/mine.so"}) || searched != nil {
		t.Errorf("with the variable %q, searched %q", got, searched)
	}
	if got, searched := candidates("/given.so", lookup, glob); !slices.Equal(got, []string{"/given.so"}) || searched != nil {
		t.Errorf("with a path %q, searched %q", got, searched)
	}
}

// TestNotFound: the whole message.
func TestNotFound(t *testing.T) {
	const advice = "libnvrtc not found: install NVIDIA's compiler library, for instance " +
		"`python3 -m pip install --upgrade --target ~/.local/share/gotile/nvrtc 'nvidia-cuda-nvrtc==13.0.*'`, or set GOTILE_NVRTC to the path of a libnvrtc.so.*; gotile doctor says more"
	for _, c := range []struct {
		tried, folders []string
		want           string
	}{
		{[]string{"/mine.so: no file"}, nil, advice + "\ntried\n\t/mine.so: no file"},
		{[]string{"a: no", "b: no"}, []string{"/x", "/y/*"}, advice + "\ntried\n\ta: no\n\tb: no\nsearched for libnvrtc.so.* in\n\t/x\n\t/y/*"},
	} {
		if err := notFound(c.tried, c.folders); !errors.Is(err, ErrNotFound) || err.Error() != c.want {
			t.Errorf("got\n%v\nwant\n%s", err, c.want)
		}
	}
}
