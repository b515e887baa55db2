// Package cname knows the names of C that nothing in a kernel may have: those of the language, of CUDA and of the
// prelude that the printer writes. Package tile refuses them where the author gives a name, so that a kernel which is
// accepted can be printed; the printer renames locals.
package cname

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// keywords cannot name anything in CUDA C++; linux, unix and NULL are macros of some host compilers and headers. The
// prelude's types are among them, since a member that is called as a type hides it from the members after it.
var keywords = words(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
	class compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit
	export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
	operator or or_eq private protected public register reinterpret_cast return short signed sizeof static
	static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union
	unsigned using virtual void volatile wchar_t while xor xor_eq linux unix NULL
	half warpSize threadIdx blockIdx blockDim gridDim u16 u32 i64 u64 bf16 f16`)

// builtins are names of CUDA's that the printer uses, besides those of the prelude; a local must not hide them.
var builtins = words(`a smem min max fminf fmaxf fabsf fmaf expf exp2f logf log2f log1pf tanhf atomicAdd atomicMax atomicMin
	atomicExch atomicCAS`)

// entries are more names of CUDA's and of C's library that a function at the top level cannot have.
var entries = words(`main printf malloc free memcpy memset assert abs exp log sqrt dim3 uint3 int2 int4 float2 float4`)

// prelude are the functions and macros that the printer defines. A test of the printer holds it against the definitions.
var prelude = words(`field_offset div_i32 div_u32 div_i64 rem_i32 rem_u32 rem_i64 abs_i32 abs_i64 f32_to_i32 f32_to_u32
	f32_to_i64 sigmoid silu softplus exp2_approx log2_approx sqrt_approx rsqrt_approx tanh_approx rcp_approx div_approx
	exp_approx log_approx sigmoid_approx silu_approx aligned opaque cp_async_16 evict_first evict_last cp_async_commit
	bf16_lo bf16_hi bf16_pair f16_lo f16_hi f16_pair round_bf16 round_f16 round_tf32
	e4m3 e5m2 i8 i8_i32 i8_pair i32_i8 e4m3_f32 e5m2_f32 e4m3_byte e5m2_byte e4m3_pair e5m2_pair f32_e4m3 f32_e5m2
	cluster_rank cluster_x clusters_x cluster_sync
	cluster_arrive cluster_wait peer_shared shared_at mbarrier_init mbarrier_fence mbarrier_arrive mbarrier_arrive_count
	mbarrier_arrive_expect_tx mbarrier_expect_tx mbarrier_test mbarrier_test_token mbarrier_try mbarrier_try_token
	mbarrier_wait mbarrier_wait_token mbarrier_track mbarrier_inval bulk_load bulk_store bulk_commit named_sync
	named_arrive fence_async cp_async_8 cp_async_4 mbarrier_test_cluster mbarrier_test_token_cluster mbarrier_try_cluster
	mbarrier_try_token_cluster mbarrier_wait_cluster mbarrier_wait_token_cluster mbarrier_arrive_at
	mbarrier_arrive_relaxed_at st_async_f32 st_async_b32 st_async_b64 fence_async_global fence_cluster launch_dependents
	fence_shared fence_loads mbarrier_acquire
	wait_prerequisites elect swizzle movmatrix tensor_map`)

// access matches the functions of all loads and stores, which the printer makes as they are needed.
var access = regexp.MustCompile(`^(load|store)(_shared|_cluster)?_(f32|i32|u32|i64|u8|u16)(x\d+)?(_cs|_nc|_cg|_ef|_el)?(_if)?$`)

// matrix matches the functions of tensor cores, which the printer makes as they are needed, too.
var matrix = regexp.MustCompile(`^(ldmatrix|stmatrix|mma|wgmma)_\w+$`)

// padding matches the members that fill up an argument struct.
var padding = regexp.MustCompile(`^padding\d+$`)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// Identifier reports whether a name is an identifier of C.
func Identifier(name string) bool { return identifier.MatchString(name) }

// Keyword reports whether nothing can have a name, members of a struct and dimensions included.
func Keyword(name string) bool { return keywords[name] || padding.MatchString(name) }

// watchdog begins the names that the printing with a watchdog adds.
const watchdog = "watchdog_"

// Reserved reports whether a local must not have a name: it is a keyword, somebody else's, or, as all that begins with two
// underscores, the compiler's.
func Reserved(name string) bool {
	return Keyword(name) || builtins[name] || prelude[name] || access.MatchString(name) || matrix.MatchString(name) || strings.HasPrefix(name, "__") ||
		strings.HasPrefix(name, watchdog)
}

// Entry reports whether a kernel can have a name: ptxas takes none that is called _.
func Entry(name string) bool {
	return Identifier(name) && !Reserved(name) && !entries[name] && name != "_"
}

// Prelude lists the functions and macros of the prelude.
func Prelude() []string { return slices.Sorted(maps.Keys(prelude)) }
