package autodiff

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// port is one Tensor field of an op's In or Out struct.
type port struct {
	name     string
	dname    string // of its gradient
	offset   uintptr
	shaped   bool // dims say the shape
	dims     []dim
	types    []dtype.Type // nil: any
	same     string       // symbol of the element type
	or       bool         // types are alternatives to the symbol's type, not what that may be
	nograd   bool
	optional bool
	raw      bool // its gradient may be unset in Backward
}

// dim is one dimension: a symbol, or a size.
type dim struct {
	symbol string
	size   int
}

// ports are the Tensor fields of a struct.
type ports struct{ list []port }

var tensorType = reflect.TypeFor[Tensor]()

// portsOf reads a struct type. All its fields are Tensors and exported.
//
// A field's tag op:"[rows,n] T:bf16|f16|f32 nograd optional" gives, each of them optional and parted by blanks: the
// shape, in symbols and sizes, equal symbols being equal sizes over all ports; the element types, after a symbol where
// other ports have the same one (T alone refers to it, T|f32 is that or f32); nograd for an input that no gradient
// flows to; optional for a port that may be left unset; and, for an output, raw: Backward wants to see that no gradient
// came, instead of zeros.
func portsOf(t reflect.Type, output bool) (ports, error) {
	var out ports
	if t.Kind() != reflect.Struct {
		return out, fmt.Errorf("%v is not a struct of Tensors", t)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type != tensorType || !f.IsExported() {
			return out, fmt.Errorf("field %s of %v: ports are exported fields of type autodiff.Tensor; what is no tensor goes into the params", f.Name, t)
		}
		p := port{name: f.Name, dname: "d" + f.Name, offset: f.Offset}
		tag, ok := f.Tag.Lookup("op")
		err := p.parse(tag)
		switch {
		case err != nil:
		case !ok && f.Tag != "":
			err = fmt.Errorf("the tag %q has no op:\"...\"", f.Tag)
		case p.nograd && output:
			err = errors.New("nograd is for inputs")
		case p.raw && !output:
			err = errors.New("raw is for outputs")
		}
		if err != nil {
			return out, fmt.Errorf("field %s of %v: %w", f.Name, t, err)
		}
		out.list = append(out.list, p)
	}
	return out, nil
}

func (p *port) parse(tag string) error {
	for _, word := range strings.Fields(tag) {
		switch {
		case word == "nograd":
			p.nograd = true
		case word == "optional":
			p.optional = true
		case word == "raw":
			p.raw = true
		case strings.HasPrefix(word, "["):
			inner, ok := strings.CutSuffix(word[1:], "]")
			if !ok {
				return fmt.Errorf("the shape %q in the tag has no end; write it without blanks, as in [rows,n]", word)
			}
			p.shaped = true
			if inner == "" {
				continue
			}
			for _, s := range strings.Split(inner, ",") {
				d := dim{symbol: s}
				n, err := strconv.Atoi(s)
				switch {
				case err == nil && n >= 0:
					d = dim{size: n}
				case !dimSymbol.MatchString(s):
					return fmt.Errorf("the dimension %q of the shape %q in the tag is neither a size nor a symbol, such as rows", s, word)
				}
				p.dims = append(p.dims, d)
			}
		default:
			if err := p.parseTypes(word); err != nil {
				return err
			}
		}
	}
	return nil
}

// The symbols of a tag. Those of types begin with a capital, so that a word with a mistake, such as nogard, is none.
var (
	dimSymbol  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	typeSymbol = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)
)

// parseTypes reads "T:bf16|f16", "bf16|f32", "T" or "T|f32".
func (p *port) parseTypes(word string) error {
	if p.same != "" || p.types != nil {
		return fmt.Errorf("%q in the tag is a second type; write alternatives as in bf16|f32", word)
	}
	symbol, names, bound := strings.Cut(word, ":")
	if !bound {
		names = word
	} else if p.same = symbol; !typeSymbol.MatchString(symbol) {
		return fmt.Errorf("%q in the tag is no symbol of a type, which begins with a capital", symbol)
	}
	for i, name := range strings.Split(names, "|") {
		if dt, err := dtype.Parse(name); err == nil {
			p.types = append(p.types, dt)
		} else if i == 0 && !bound && typeSymbol.MatchString(name) {
			p.same, p.or = name, true
		} else {
			return fmt.Errorf("%q in the tag is neither an element type, of %v, nor a symbol of one, such as T, nor nograd, optional or raw", name, dtype.All())
		}
	}
	return nil
}

// at is the Tensor of port i in the struct at base.
func (ps ports) at(base unsafe.Pointer, i int) *Tensor {
	return (*Tensor)(unsafe.Add(base, ps.list[i].offset))
}

// values are the tensors of the struct at base, by port; nil where unset. The list is the tape's.
func (ps ports) values(t *Tape, base unsafe.Pointer) []*value {
	out := t.lists.take(len(ps.list))
	for i := range ps.list {
		out[i] = ps.at(base, i).v
	}
	return out
}

// set fills the struct at base.
func (ps ports) set(base unsafe.Pointer, vs []*value) {
	for i := range ps.list {
		ps.at(base, i).v = vs[i]
	}
}

// symbols are sizes and types by symbol, of one application.
type symbols struct {
	dims  []bound[int]
	types []bound[dtype.Type]
}

// reset forgets them, and keeps the memory.
func (s *symbols) reset() *symbols {
	s.dims, s.types = s.dims[:0], s.types[:0]
	return s
}

type bound[V any] struct {
	name, port string
	value      V
}

func (b bound[V]) named(name string) bool { return b.name == name }

// check holds a tensor against its port, and notes the symbols that it is the first to have.
func (p *port) check(v *value, s *symbols) (text string, sentinel error) {
	dt, rank := v.data.DType(), v.data.Rank()
	if p.same != "" {
		i := slices.IndexFunc(s.types, func(b bound[dtype.Type]) bool { return b.named(p.same) })
		listed := slices.Contains(p.types, dt)
		switch {
		case p.or && listed:
		case !p.or && len(p.types) > 0 && !listed:
			return fmt.Sprintf("the tensor is %v; its type may be %v: give it one of that type", v.data, p.types), device.ErrDType
		case i < 0:
			s.types = append(s.types, bound[dtype.Type]{p.same, p.name, dt})
		case dt != s.types[i].value:
			return fmt.Sprintf("the tensor is %v, %s is %v: they have one type; cast one of them", v.data, s.types[i].port, s.types[i].value), device.ErrDType
		}
	} else if len(p.types) > 0 && !slices.Contains(p.types, dt) {
		return fmt.Sprintf("the tensor is %v; its type may be %v: give it one of that type", v.data, p.types), device.ErrDType
	}
	if !p.shaped {
		return "", nil
	}
	if rank != len(p.dims) {
		return fmt.Sprintf("the tensor is %v, of rank %d; its shape is %s, of rank %d", v.data, rank, p.shapeText(), len(p.dims)), device.ErrShape
	}
	for i, d := range p.dims {
		size := v.data.Dim(i)
		if d.symbol == "" {
			if size != d.size {
				return fmt.Sprintf("the tensor is %v; its shape is %s: dimension %d has size %d", v.data, p.shapeText(), i, d.size), device.ErrShape
			}
			continue
		}
		j := slices.IndexFunc(s.dims, func(b bound[int]) bool { return b.named(d.symbol) })
		if j < 0 {
			s.dims = append(s.dims, bound[int]{d.symbol, p.name, size})
		} else if size != s.dims[j].value {
			return fmt.Sprintf("the tensor is %v; its shape is %s, and %s is %d by %s", v.data, p.shapeText(), d.symbol, s.dims[j].value, s.dims[j].port), device.ErrShape
		}
	}
	return "", nil
}

func (p *port) shapeText() string {
	var s []string
	for _, d := range p.dims {
		if d.symbol != "" {
			s = append(s, d.symbol)
		} else {
			s = append(s, strconv.Itoa(d.size))
		}
	}
	return "[" + strings.Join(s, ",") + "]"
}
