package cuda

import (
	"regexp"
	"strings"

	"github.com/gotile/gotile/internal/thr"
)

// keywords cannot name anything in CUDA C++; linux and unix are macros of some host compilers.
var keywords = words(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
	class compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit
	export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
	operator or or_eq private protected public register reinterpret_cast return short signed sizeof static
	static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union
	unsigned using virtual void volatile wchar_t while xor xor_eq linux unix`)

// builtins are the names of CUDA's that the printer uses, besides those of the prelude; a local must not hide them.
var builtins = words(`a smem threadIdx blockIdx gridDim min max fminf fmaxf fabsf fmaf expf exp2f logf log2f log1pf tanhf
	atomicAdd atomicMax atomicMin atomicExch atomicCAS`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// reserved reports whether a local or a kernel must not have a name.
func reserved(name string) bool {
	_, prelude := preludeIndex[name]
	return prelude || keywords[name] || builtins[name] || accessName.MatchString(name) || strings.HasPrefix(name, "__")
}

// accessName matches the names of all loads and stores, as access.name makes them.
var accessName = regexp.MustCompile(`^(load|store)(_shared|_cluster)?_(f32|i32|u32|i64|u8|u16)(x\d+)?(_cs|_nc|_cg|_ef|_el)?(_if)?$`)

// rename maps every local's name to its name in C: the same, or with underscores after it where it is reserved.
func rename(names map[string]bool) map[string]string {
	out := map[string]string{}
	for n := range names {
		c := n
		if strings.HasPrefix(n, "__") { // the compiler's own, whatever follows
			c = "v" + n
		}
		for reserved(c) || c != n && names[c] {
			c += "_"
		}
		out[n] = c
	}
	return out
}

// field is the C name of a field of the argument struct.
func field(name string) string {
	if keywords[name] {
		return name + "_"
	}
	return name
}

var validName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// name is the C name of a local.
func (p *printer) name(l *thr.Local) string {
	n, ok := p.names[l.Name]
	if !ok {
		p.fail("%q is used but not declared", l.Name)
	} else if !validName.MatchString(n) {
		p.fail("%q is no name in C", l.Name)
	}
	return n
}

// fresh is a name that no local has, for the printer's own variables.
func (p *printer) fresh(name string) string {
	for taken := true; taken; {
		taken = reserved(name)
		for _, n := range p.names {
			taken = taken || n == name
		}
		if taken {
			name += "_"
		}
	}
	return name
}
