package cuda

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/cname"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

var sm80 = nvrtc.Options{Arch: "sm_80"}

// defined are the names that a text's prelude declares.
var defined = regexp.MustCompile(`(?m)^(?:struct __align__\(64\) (\w+)|typedef .* (\w+);|#define (\w+)|__device__ __forceinline__ \w+ (\w+))`)

func preludeOf(text string) []string {
	head, _, _ := strings.Cut(text, "\n\nstruct ")
	var out []string
	for _, m := range defined.FindAllStringSubmatch(head, -1) {
		if n := m[1] + m[2] + m[3] + m[4]; len(out) == 0 || out[len(out)-1] != n { // #define has two branches
			out = append(out, n)
		}
	}
	return out
}

// TestOnlyUsedPrelude: a kernel's prelude is what its body, its arguments and the printed functions need, in order.
// Names in comments and of arguments do not count.
func TestOnlyUsedPrelude(t *testing.T) {
	x := local("x", dtype.F32)
	sigmoid := scalar("sigmoid", dtype.F32, 0)
	for _, c := range []struct {
		body []thr.Stmt
		want string
	}{
		{nil, "field_offset"},
		{[]thr.Stmt{thr.Comment{Text: "not a \" softplus"}, decl(x, get(sigmoid))}, "field_offset"},
		{[]thr.Stmt{decl(x, op(ir.Silu, get(sigmoid)))}, "field_offset silu"},
		{[]thr.Stmt{decl(x, op(ir.SiluApprox, get(sigmoid)))}, "field_offset exp2_approx rcp_approx exp_approx silu_approx"},
		{[]thr.Stmt{decl(x, callFn(thr.RoundBF16, get(sigmoid)))}, "u32 field_offset bf16_lo bf16_pair round_bf16"},
		{[]thr.Stmt{decl(local("n", dtype.I64), castTo(dtype.I64, castTo(dtype.U32, get(sigmoid))))}, "u32 i64 field_offset f32_to_u32"},
	} {
		k := argKernel(8, sigmoid, scalar("pad", dtype.F32, 4))
		k.Body = c.body
		text := mustPrint(t, k, Options{})
		if s := strings.Join(preludeOf(text), " "); s != c.want {
			t.Errorf("prelude %q, want %q, of\n%s", s, c.want, text)
		}
	}
}

// TestPreludeNames: each snippet declares just its name, once.
func TestPreludeNames(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range prelude {
		if got := preludeOf(s.text); len(got) != 1 || got[0] != s.name || seen[s.name] {
			t.Errorf("snippet %s declares %q (seen before: %t)", s.name, got, seen[s.name])
		}
		seen[s.name] = true
	}
}

// TestPreludeCompiles compiles every snippet on its own with what it needs, which shows that dependencies are found
// and come first.
func TestPreludeCompiles(t *testing.T) {
	l := needNVRTC(t)
	for _, s := range prelude {
		text := printPrelude(map[string]bool{s.name: true}, nil, nil)
		if _, err := l.Compile(text+"extern \"C\" __global__ void k() {}\n", s.name+".cu", sm80); err != nil {
			t.Errorf("%+v\n%s", err, text)
		}
	}
}

// TestNoBranches: predicated accesses are predicated instructions, global and shared.
func TestNoBranches(t *testing.T) {
	l := needNVRTC(t)
	for _, k := range []*thr.Kernel{memoryKernel(), sharedKernel()} {
		r, err := l.Compile(mustPrint(t, k, Options{}), k.Name+".cu", sm80)
		if err != nil {
			t.Fatalf("%+v", err)
		}
		if strings.Contains(r.PTX, "\tbra") || !strings.Contains(r.PTX, "@q ld.") || !strings.Contains(r.PTX, "@q st.") {
			t.Errorf("%s: branches, or no predicated access, in\n%s", k.Name, r.PTX)
		}
	}
}

// TestPreludeNamesAreRefused: what the prelude defines is known where names are refused, and nothing else is.
func TestPreludeNamesAreRefused(t *testing.T) {
	for _, s := range prelude {
		if !cname.Reserved(s.name) {
			t.Errorf("%s of the prelude is not reserved", s.name)
		}
		if cname.Entry(s.name) {
			t.Errorf("a kernel may be called %s, which the prelude defines", s.name)
		}
	}
	for _, n := range cname.Prelude() {
		if _, ok := preludeIndex[n]; !ok {
			t.Errorf("%s is reserved for the prelude, which does not define it", n)
		}
	}
}
