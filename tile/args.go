package tile

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/cname"
	"github.com/gotile/gotile/internal/ir"
)

// port is a field of an Args struct.
type port interface {
	bind(b *ir.Builder, a *ir.Arg)
	poison(b *ir.Builder) // for a field with a mistake: what the body does with it is no mistake of its own
	scalar() bool
	dtype() dtype.Type
}

func (g *Global[T]) bind(b *ir.Builder, a *ir.Arg) { a.DT, g.b, g.a = dtypeOf[T](), b, a }
func (s *Scalar[T]) bind(b *ir.Builder, a *ir.Arg) {
	a.DT = dtypeOf[T]()
	s.b, s.v = b, b.Param(a)
}
func (g *Global[T]) poison(b *ir.Builder) { g.b = b }
func (s *Scalar[T]) poison(b *ir.Builder) { s.b = b }
func (g *Global[T]) scalar() bool         { return false }
func (s *Scalar[T]) scalar() bool         { return true }
func (g *Global[T]) dtype() dtype.Type    { return dtypeOf[T]() }
func (s *Scalar[T]) dtype() dtype.Type    { return dtypeOf[T]() }

// bindArgs gives the fields of the Args struct at v their arguments. Mistakes are noted at the caller of Define.
func bindArgs(b *ir.Builder, v reflect.Value) {
	t := v.Type()
	if t.Kind() != reflect.Struct {
		b.Reject(ErrPort, "Args is %v: use a struct of tile.Global and tile.Scalar fields", t)
		return
	}
	b.Kernel.ArgsType, _, _ = strings.Cut(t.Name(), "[")
	if t.NumField() == 0 {
		b.Reject(ErrPort, "%s has no fields: a kernel without arguments has nothing to work on; add a tile.Global", argsName(t))
		return
	}
	symbols := map[string]*ir.Symbol{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			b.Reject(ErrPort, "field %s of %s is not exported: the wrapper needs its name; export it", f.Name, argsName(t))
			poison(b, v.Field(i))
			continue
		}
		p, ok := v.Field(i).Addr().Interface().(port)
		if !ok {
			b.Reject(ErrPort, "field %s of %s is a %v: use tile.Global[T] or tile.Scalar[T]", f.Name, argsName(t), f.Type)
			poison(b, v.Field(i))
			continue
		}
		if p.scalar() && p.dtype().Is8() {
			b.Reject(ErrPort, "scalar %s of %s is of %v: scalars are of 16 bits or more; use tile.Scalar[tile.F32] or [tile.I32], and Cast", f.Name, argsName(t), p.dtype())
			p.poison(b)
			continue
		}
		a := &ir.Arg{Field: f.Name, Name: cName(f.Name)}
		if !cname.Identifier(a.Name) {
			b.Reject(ErrPort, "field %s of %s has letters that C does not; use A to Z, digits and underscores", f.Name, argsName(t))
			p.poison(b)
			continue
		}
		tag, tagged := f.Tag.Lookup("tile")
		switch {
		case p.scalar() && tagged:
			b.Reject(ErrPort, "scalar %s of %s has the shape tag %q; drop it", f.Name, argsName(t), tag)
			p.poison(b)
			continue
		case !p.scalar():
			if err := parseTag(a, tag, symbols, &b.Kernel.Symbols); err != nil {
				b.Reject(ErrPort, "field %s of %s: %v", f.Name, argsName(t), err)
				p.poison(b)
				continue
			}
		}
		b.Kernel.Args = append(b.Kernel.Args, a)
		p.bind(b, a)
	}
	checkNames(b, argsName(t))
}

// poison marks the arguments in a field with a mistake, those of nested structs and arrays too.
func poison(b *ir.Builder, v reflect.Value) {
	if p, ok := reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Interface().(port); ok { // NewAt: the field may be unexported
		p.poison(b)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			poison(b, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			poison(b, v.Index(i))
		}
	}
}

func argsName(t reflect.Type) string {
	if t.Name() == "" {
		return "Args"
	}
	n, _, _ := strings.Cut(t.Name(), "[")
	return n
}

var symbol = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// parseTag reads a shape tag: symbols or sizes with commas between, and "strided" after a space or a comma.
func parseTag(a *ir.Arg, tag string, symbols map[string]*ir.Symbol, all *[]*ir.Symbol) error {
	const grammar = `give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided"`
	items := strings.Split(tag, ",")
	last := strings.Fields(items[len(items)-1])
	switch {
	case len(last) == 2 && last[1] == "strided":
		a.Strided = true
		items[len(items)-1] = last[0]
	case len(last) == 1 && last[0] == "strided":
		a.Strided = true
		items = items[:len(items)-1]
	}
	if strings.TrimSpace(tag) == "" || len(items) == 0 {
		return fmt.Errorf("no shape; %s", grammar)
	}
	for _, it := range items {
		it = strings.TrimSpace(it)
		if n, err := strconv.ParseInt(it, 10, 32); err == nil {
			if n < 1 {
				return fmt.Errorf("size %d in tag %q: give a size of at least 1", n, tag)
			}
			a.Dims = append(a.Dims, ir.DimSpec{Size: int(n)})
			continue
		}
		if !symbol.MatchString(it) || cname.Keyword(it) || it == "strided" {
			a.Dims = nil
			return fmt.Errorf("dimension %q in tag %q is no size and no symbol; %s", it, tag, grammar)
		}
		if symbols[it] == nil {
			symbols[it] = &ir.Symbol{Name: it}
			*all = append(*all, symbols[it])
		}
		a.Dims = append(a.Dims, ir.DimSpec{Symbol: symbols[it]})
	}
	return nil
}

// cName is a field's name in C: the first capitals become small (DX is dx, DWeight is dWeight).
func cName(field string) string {
	r := []rune(field)
	for i := range r {
		if !unicode.IsUpper(r[i]) || i > 0 && i+1 < len(r) && unicode.IsLower(r[i+1]) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	if s := string(r); cname.Keyword(s) {
		return s + "_"
	} else {
		return s
	}
}

// checkNames refuses arguments and symbols that would be one name in the C struct.
func checkNames(b *ir.Builder, args string) {
	seen := map[string]string{}
	add := func(c, what string) {
		if o, ok := seen[c]; ok {
			b.Reject(ErrPort, "%s and %s of %s are both %q in C; rename one", o, what, args, c)
		}
		seen[c] = what
	}
	for _, a := range b.Kernel.Args {
		add(a.Name, "field "+a.Field)
		for i := range a.Dims {
			if i < len(a.Dims)-1 || a.Strided {
				add(fmt.Sprintf("%s_stride%d", a.Name, i), fmt.Sprintf("stride %d of %s", i, a.Field))
			}
		}
	}
	for _, s := range b.Kernel.Symbols {
		add(s.Name, "dimension "+s.Name)
	}
}
