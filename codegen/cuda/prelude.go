package cuda

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// snippet is a declaration of the prelude. Its dependencies are the names of other snippets in its text.
type snippet struct{ name, text string }

// device begins every function of the prelude.
const device = "__device__ __forceinline__ "

// unaryPTX is a float function of one PTX instruction.
func unaryPTX(name, instruction string) snippet {
	return snippet{name, fmt.Sprintf(device+"float %s(float x) {\n  float r;\n  asm(\"%s %%0, %%1;\" : \"=f\"(r) : \"f\"(x));\n  return r;\n}\n", name, instruction)}
}

// policyPTX is a function that makes a policy for the L2 cache. It is not volatile, so a kernel makes it once.
func policyPTX(name string) string {
	return fmt.Sprintf(device+"u64 %s() {\n  u64 policy;\n  asm(\"createpolicy.fractional.L2::%s.b64 %%0, 1.0;\" : \"=l\"(policy));\n  return policy;\n}\n", name, name)
}

// copyPTX copies few bytes, through L1.
func copyPTX(n int) string {
	return fmt.Sprintf(device+`void cp_async_%d(void* to, const void* from, int bytes) { // %d, those past bytes are 0
  asm volatile("cp.async.ca.shared.global [%%0], [%%1], %d, %%2;" :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}
`, n, n, n)
}

// prelude is in the order of printing, asyncPrelude last. Conversions are asm because their results for NaN and out of
// range are defined by PTX; the compiler may fold a C cast to anything there. Divisions by zero are defined by the op
// table.
var prelude = append([]snippet{
	{"u16", "typedef unsigned short u16;\n"},
	{"u32", "typedef unsigned int u32;\n"},
	{"i64", "typedef long long i64;\n"},
	{"u64", "typedef unsigned long long u64;\n"},
	{"bf16", "typedef u16 bf16; // its bits\n"},
	{"f16", "typedef u16 f16; // its bits\n"},
	{"e4m3", "typedef unsigned char e4m3; // its bits\n"},
	{"e5m2", "typedef unsigned char e5m2; // its bits\n"},
	{"i8", "typedef signed char i8;\n"},
	{"field_offset", `#ifdef __CUDACC_RTC__ // NVRTC has no offsetof without headers
#define field_offset(type, field) __INTADDR__(&((type*)0)->field)
#else
#define field_offset(type, field) __builtin_offsetof(type, field)
#endif
`},

	{"div_i32", device + "int div_i32(int a, int b) { return b == 0 ? -1 : b == -1 ? (int)-(u32)a : a / b; }\n"},
	{"div_u32", device + "u32 div_u32(u32 a, u32 b) { return b == 0 ? 0xffffffffu : a / b; }\n"},
	{"div_i64", device + "i64 div_i64(i64 a, i64 b) { return b == 0 ? -1 : b == -1 ? (i64)-(u64)a : a / b; }\n"},
	{"rem_i32", device + "int rem_i32(int a, int b) { return b == 0 ? a : b == -1 ? 0 : a % b; }\n"},
	{"rem_u32", device + "u32 rem_u32(u32 a, u32 b) { return b == 0 ? a : a % b; }\n"},
	{"rem_i64", device + "i64 rem_i64(i64 a, i64 b) { return b == 0 ? a : b == -1 ? 0 : a % b; }\n"},
	{"abs_i32", device + "int abs_i32(int a) { return (int)(a < 0 ? -(u32)a : (u32)a); }\n"},
	{"abs_i64", device + "i64 abs_i64(i64 a) { return (i64)(a < 0 ? -(u64)a : (u64)a); }\n"},

	{"f32_to_i32", device + `int f32_to_i32(float x) {
  int r;
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}
`},
	{"f32_to_u32", device + `u32 f32_to_u32(float x) {
  u32 r;
  asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}
`},
	{"f32_to_i64", device + `i64 f32_to_i64(float x) { // the instruction makes -2^63 of NaN
  i64 r;
  asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(r) : "f"(x));
  return x == x ? r : 0;
}
`},

	{"sigmoid", device + "float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }\n"},
	{"silu", device + "float silu(float x) { return x / (1.0f + expf(-x)); }\n"},
	{"softplus", device + "float softplus(float x) { return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x))); }\n"},

	unaryPTX("exp2_approx", "ex2.approx.ftz.f32"),
	unaryPTX("log2_approx", "lg2.approx.ftz.f32"),
	unaryPTX("sqrt_approx", "sqrt.approx.ftz.f32"),
	unaryPTX("rsqrt_approx", "rsqrt.approx.ftz.f32"),
	unaryPTX("tanh_approx", "tanh.approx.f32"),
	unaryPTX("rcp_approx", "rcp.approx.ftz.f32"),
	{"div_approx", device + `float div_approx(float a, float b) {
  float r;
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
`},
	{"exp_approx", device + "float exp_approx(float x) { return exp2_approx(x * 1.442695f); } // log2(e)\n"},
	{"log_approx", device + "float log_approx(float x) { return log2_approx(x) * 0.6931472f; } // ln 2\n"},
	{"sigmoid_approx", device + "float sigmoid_approx(float x) { return rcp_approx(1.0f + exp_approx(-x)); }\n"},
	{"silu_approx", device + "float silu_approx(float x) { return x * rcp_approx(1.0f + exp_approx(-x)); }\n"},

	{"aligned", device + "bool aligned(const void* p, int bytes) { return ((u64)p & (u64)(bytes - 1)) == 0; }\n"},
	{"opaque", device + "int opaque(int x) {\n  asm volatile(\"\" : \"+r\"(x));\n  return x;\n}\n"},
	{"swizzle", device + "int swizzle(int offset, int mask) { return offset ^ (offset >> 7 & mask) << 4; } // 16-byte chunks, by 128-byte line\n"},
	{"cp_async_16", device + `void cp_async_16(void* to, const void* from, int bytes) { // 16, those past bytes are 0
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}
`},
	{"cp_async_8", copyPTX(8)},
	{"cp_async_4", copyPTX(4)},
	{"evict_first", policyPTX("evict_first")},
	{"evict_last", policyPTX("evict_last")},
	{"cp_async_commit", device + "void cp_async_commit() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }\n"},
	{"bf16_lo", widenPTX("bf16_lo", "shl.b32 %0, %1, 16;")},
	{"bf16_hi", widenPTX("bf16_hi", "and.b32 %0, %1, 0xffff0000;")},
	{"bf16_pair", pairPTX("bf16")},
	{"f16_lo", halfPTX("f16_lo", "lo")},
	{"f16_hi", halfPTX("f16_hi", "hi")},
	{"f16_pair", pairPTX("f16")},
	{"round_bf16", device + "float round_bf16(float x) { return bf16_lo(bf16_pair(x, 0.0f)); }\n"},
	{"round_f16", device + "float round_f16(float x) { return f16_lo(f16_pair(x, 0.0f)); }\n"},

	{"round_tf32", device + `float round_tf32(float x) {
  u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return __uint_as_float(r);
}
`},

	{"i8_i32", device + "int i8_i32(u32 x) { return (int)(x << 24) >> 24; }\n"},
	{"i8_pair", device + `u32 i8_pair(int lo, int hi) { // in the low 16 bits
  u32 r;
  asm("cvt.pack.sat.s8.s32.b32 %0, %2, %1, 0;" : "=r"(r) : "r"(lo), "r"(hi));
  return r;
}
`},
	{"i32_i8", device + "u32 i32_i8(int x) { return i8_pair(x, 0); }\n"},
	{"e5m2_f32", device + `float e5m2_f32(u32 x) { // the upper half of an f16
  float r;
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(r) : "r"(x << 8));
  return r;
}
`},
	{"e4m3_f32", device + `float e4m3_f32(u32 x) {
#if __CUDA_ARCH__ >= 890
  float r;
  asm("{ .reg .b16 b, lo, hi; .reg .b32 h; cvt.u16.u32 b, %1; cvt.rn.f16x2.e4m3x2 h, b; mov.b32 {lo, hi}, h; cvt.f32.f16 %0, lo; }" : "=f"(r) : "r"(x));
  return r;
#else // as an f32 whose exponent is 120 less
  float r = __uint_as_float((x & 0x80u) << 24 | (x & 0x7fu) << 20) * __uint_as_float(0x7b800000u);
  return (x & 0x7fu) == 0x7fu ? __uint_as_float(0x7fffffffu) : r;
#endif
}
`},
	float8Byte("e4m3", "0x3c800000u", "16384.0f", 20, 960, "0x7eu"),
	float8Byte("e5m2", "0x38800000u", "128.0f", 21, 448, "0x7bu"),
	float8Pair("e4m3"),
	float8Pair("e5m2"),
	{"f32_e4m3", device + "u32 f32_e4m3(float x) { return e4m3_pair(x, 0.0f); }\n"},
	{"f32_e5m2", device + "u32 f32_e5m2(float x) { return e5m2_pair(x, 0.0f); }\n"},

	{"movmatrix", device + `u32 movmatrix(u32 x) { // the 8x8 matrix of which the lanes have two elements each, transposed
  u32 r;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(x));
  return r;
}
`},

	{"wgmma_commit", device + "void wgmma_commit() { asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\"); }\n"},

	{"cluster_rank", registerPTX("cluster_rank", "%cluster_ctarank")},
	{"cluster_x", registerPTX("cluster_x", "%clusterid.x")},
	{"clusters_x", registerPTX("clusters_x", "%nclusterid.x")},
	{"cluster_sync", device + `void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
`},
	{"cluster_arrive", device + `void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
`},
	{"cluster_wait", device + `void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
`},
	{"peer_shared", device + `u32 peer_shared(const void* p, int rank) { // the same place in the shared memory of a block of the cluster
  u32 r;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"((u32)__cvta_generic_to_shared(p)), "r"(rank));
  return r;
}
`},
}, asyncPrelude...)

// registerPTX reads a special register that stays the same while a kernel runs.
func registerPTX(name, register string) string {
	return fmt.Sprintf(device+"int %s() {\n  int r;\n  asm(\"mov.u32 %%0, %%%s;\" : \"=r\"(r));\n  return r;\n}\n", name, register)
}

// pairPTX packs two floats; the instruction takes the upper half first.
func pairPTX(t string) string {
	return fmt.Sprintf(device+"u32 %s_pair(float lo, float hi) {\n  u32 r;\n  asm(\"cvt.rn.%sx2.f32 %%0, %%1, %%2;\" : \"=r\"(r) : \"f\"(hi), \"f\"(lo));\n  return r;\n}\n", t, t)
}

// float8Byte rounds a float to an 8-bit one, to nearest even, at most the largest number, for chips before sm_89. Below the
// least normal number a sum with one whose last digit is that of the format's subnormals rounds, above it the carry of a
// sum; exponents are rebased by a difference.
func float8Byte(t, least, subnormal string, drop, rebase int, largest string) snippet {
	return snippet{t + "_byte", fmt.Sprintf(device+`u32 %s_byte(float x) { // by hand: chips before sm_89 have no instruction
  u32 a = __float_as_uint(x) & 0x7fffffffu, sign = __float_as_uint(x) >> 24 & 0x80u;
  if (a > 0x7f800000u) return 0x7fu;
  if (a < %s) return sign | (__float_as_uint(__uint_as_float(a) + %s) - __float_as_uint(%s));
  return sign | min((a + 0x%xu + (a >> %d & 1u) >> %d) - %du, %s);
}
`, t, least, subnormal, subnormal, 1<<(drop-1)-1, drop, drop, rebase, largest)}
}

// float8Pair packs two floats into the low 16 bits.
func float8Pair(t string) snippet {
	return snippet{t + "_pair", fmt.Sprintf(device+`u32 %[1]s_pair(float lo, float hi) { // in the low 16 bits
#if __CUDA_ARCH__ >= 890
  u32 r;
  asm("{ .reg .b16 b; cvt.rn.satfinite.%[1]sx2.f32 b, %%2, %%1; cvt.u32.u16 %%0, b; }" : "=r"(r) : "f"(lo), "f"(hi));
  return r;
#else
  return %[1]s_byte(lo) | %[1]s_byte(hi) << 8;
#endif
}
`, t)}
}

// widenPTX widens one half of a pair of bf16 with one instruction. Widening is volatile on purpose: it is cheaper than
// a register, but a compiler that sees the same half widened twice keeps the first result, all over a loop (RMSNorm
// backward at 4096 columns: 125 registers a thread instead of 64).
func widenPTX(name, instruction string) string {
	return fmt.Sprintf(device+"float %s(u32 pair) { // volatile: widen again, do not keep\n  float r;\n  asm volatile(\"%s\" : \"=f\"(r) : \"r\"(pair));\n  return r;\n}\n", name, instruction)
}

// halfPTX widens one half of a pair of f16; volatile as widenPTX.
func halfPTX(name, half string) string {
	return fmt.Sprintf(device+"float %s(u32 pair) {\n  float r;\n  asm volatile(\"{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %%1; cvt.f32.f16 %%0, %s; }\" : \"=f\"(r) : \"r\"(pair));\n  return r;\n}\n", name, half)
}

var preludeIndex = func() map[string]int {
	m := map[string]int{}
	for i, s := range prelude {
		m[s.name] = i
	}
	return m
}()

var (
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
	// aside is what names nothing: comments, strings, fields of the arguments.
	aside = regexp.MustCompile(`//.*|"(?:[^"\\]|\\.)*"|\ba\.\w+`)
)

// dependencies are the snippets that a text names.
func dependencies(text string) []string {
	var out []string
	for _, n := range identifier.FindAllString(aside.ReplaceAllString(text, ""), -1) {
		if _, ok := preludeIndex[n]; ok {
			out = append(out, n)
		}
	}
	return out
}

// printPrelude prints the used snippets and accesses with all that they need, each once, in a fixed order.
func printPrelude(used map[string]bool, accesses map[string]access, made map[string]string) string {
	need := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if !need[name] {
			need[name] = true
			for _, d := range dependencies(prelude[preludeIndex[name]].text) {
				visit(d)
			}
		}
	}
	for n := range used {
		visit(n)
	}
	var memory []string
	for _, a := range accesses {
		memory = append(memory, a.text())
		for _, d := range dependencies(a.text()) {
			visit(d)
		}
	}
	for _, text := range made {
		memory = append(memory, text)
		for _, d := range dependencies(text) {
			visit(d)
		}
	}
	slices.Sort(memory)
	var b strings.Builder
	for _, s := range prelude {
		if need[s.name] {
			b.WriteString(s.text)
		}
	}
	return b.String() + strings.Join(memory, "")
}
