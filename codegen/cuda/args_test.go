package cuda

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

func argKernel(bytes int, args ...*thr.Arg) *thr.Kernel {
	return &thr.Kernel{Name: "k", Threads: 32, Args: args, ArgBytes: bytes}
}

func scalar(name string, t dtype.Type, offset int) *thr.Arg {
	return &thr.Arg{Name: name, Kind: thr.ArgScalar, Type: thr.Val(t), Offset: offset}
}

// TestArgPadding: gaps and the tail are named, so that the compiler adds none of its own; the asserts then hold for
// all targets. A field named like a keyword gets an underscore.
func TestArgPadding(t *testing.T) {
	text := mustPrint(t, argKernel(40, scalar("s", dtype.I32, 0), scalar("wide", dtype.I64, 16), scalar("half", dtype.BF16, 24), scalar("int", dtype.U32, 28)), Options{})
	_, body, _ := strings.Cut(text, "struct k_args {\n")
	body, _, _ = strings.Cut(body, "extern")
	const want = `  int s;
  u32 padding0[3];
  i64 wide;
  u32 half_;
  u32 int_;
  u32 padding1[2];
};
static_assert(sizeof(k_args) == 40, "size");
static_assert(field_offset(k_args, s) == 0, "s");
static_assert(field_offset(k_args, wide) == 16, "wide");
static_assert(field_offset(k_args, half_) == 24, "half");
static_assert(field_offset(k_args, int_) == 28, "int");

`
	if body != want {
		t.Errorf("got\n%s", body)
	}
	compileAll(t, "k", text)
}

func TestArgLayoutRefused(t *testing.T) {
	for name, k := range map[string]*thr.Kernel{
		"overlap":      argKernel(16, scalar("x", dtype.I64, 0), scalar("y", dtype.I32, 4)),
		"misaligned":   argKernel(16, scalar("x", dtype.I64, 4)),
		"past the end": argKernel(8, scalar("x", dtype.I32, 8)),
		"descending":   argKernel(16, scalar("x", dtype.I32, 8), scalar("y", dtype.I32, 0)),
		"odd size":     argKernel(12, scalar("x", dtype.I32, 0)),
		"empty":        argKernel(0),
		"name":         argKernel(8, scalar("x-y", dtype.I32, 0)),
	} {
		if text, err := Print(k, Options{}); err == nil || text != "" || !strings.HasPrefix(err.Error(), "cuda: kernel k: ") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestWrongOffsetFailsToCompile: the asserts are real.
func TestWrongOffsetFailsToCompile(t *testing.T) {
	l := needNVRTC(t)
	text := mustPrint(t, argKernel(16, scalar("x", dtype.I64, 0), scalar("y", dtype.I32, 8)), Options{})
	for _, change := range [][2]string{{"k_args, y) == 8", "k_args, y) == 12"}, {"sizeof(k_args) == 16", "sizeof(k_args) == 24"}} {
		wrong := strings.Replace(text, change[0], change[1], 1)
		if wrong == text {
			t.Fatalf("no %q in\n%s", change[0], text)
		}
		if _, err := l.Compile(wrong, "k.cu", sm80); err == nil || !strings.Contains(err.Error(), "static assertion failed") {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}
