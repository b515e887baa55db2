package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

func TestLiterals(t *testing.T) {
	for _, c := range []struct {
		c    thr.Const
		want string
	}{
		{f32(1), "1.0f"}, {f32(0), "0.0f"}, {f32(float32(math.Copysign(0, -1))), "-0.0f"}, {f32(0.1), "0.1f"}, {f32(-2.5), "-2.5f"},
		{f32(1e-6), "1e-6f"}, {f32(1e30), "1e30f"}, {f32(16777216), "1.6777216e7f"}, {f32(math.SmallestNonzeroFloat32), "1e-45f"},
		{f32(math.MaxFloat32), "3.4028235e38f"}, {f32(float32(math.Inf(1))), "__uint_as_float(0x7f800000u)"},
		{f32(float32(math.Inf(-1))), "__uint_as_float(0xff800000u)"}, {thr.Const{DT: dtype.F32, Bits: 0x7fc00001}, "__uint_as_float(0x7fc00001u)"},
		{i32(0), "0"}, {i32(-5), "-5"}, {i32(math.MaxInt32), "2147483647"}, {i32(math.MinInt32), "-2147483647 - 1"},
		{u32c(0), "0u"}, {u32c(65535), "65535u"}, {u32c(65536), "0x00010000u"}, {u32c(math.MaxUint32), "0xffffffffu"},
		{i64c(7), "7ll"}, {i64c(math.MinInt64), "-9223372036854775807ll - 1"}, {i64c(-1 << 40), "-1099511627776ll"},
		{boolean(true), "true"}, {boolean(false), "false"}, {thr.Const{DT: dtype.BF16, Bits: 0x3f80}, "0x3f80u"},
	} {
		if got := literal(c.c).text; got != c.want {
			t.Errorf("%v %#x: %s, want %s", c.c.DT, c.c.Bits, got, c.want)
		}
	}
}

// TestFloatLiteralsReadBack: every float's text is the same float again.
func TestFloatLiteralsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint32().Draw(t, "bits")
		text := floatLiteral(bits).text
		if hex, ok := strings.CutPrefix(text, "__uint_as_float("); ok {
			got, err := strconv.ParseUint(strings.TrimSuffix(hex, "u)"), 0, 32)
			if err != nil || uint32(got) != bits {
				t.Fatalf("%#x: %s", bits, text)
			}
			return
		}
		got, err := strconv.ParseFloat(strings.TrimSuffix(text, "f"), 32)
		if err != nil || math.Float32bits(float32(got)) != bits || !strings.ContainsAny(text, ".e") {
			t.Fatalf("%#x: %s", bits, text)
		}
	})
}

// TestFloatLiteralsCompile: NVRTC reads them as we do.
func TestFloatLiteralsCompile(t *testing.T) {
	l := needNVRTC(t)
	bits := []uint32{0, 1 << 31, 1, 0x007fffff, 0x00800000, 0x3dcccccd, 0x358637bd, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc12345, 0x4b7fffff}
	var src strings.Builder
	for i, b := range bits {
		fmt.Fprintf(&src, "extern \"C\" __global__ void k%d(float* p) { *p = %s; }\n", i, floatLiteral(b).text)
	}
	r, err := l.Compile(src.String(), "literals.cu", nvrtc.Options{Arch: "sm_80"})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	for i, b := range bits {
		_, body, _ := strings.Cut(r.PTX, fmt.Sprintf(".entry k%d(", i))
		body, _, _ = strings.Cut(body, "ret;")
		if !strings.Contains(body, fmt.Sprintf(", %d;", int32(b))) && !strings.Contains(body, fmt.Sprintf(", %d;", b)) && !strings.Contains(body, fmt.Sprintf("0f%08X", b)) {
			t.Errorf("%#x, printed as %s, became\n%s", b, floatLiteral(b).text, body)
		}
	}
}
