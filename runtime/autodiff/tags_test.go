package autodiff

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Mistakes in tags: a word that is none is no symbol of a type.
func TestBadTags(t *testing.T) {
	type T = Tensor
	for name, c := range map[string]struct {
		ports  reflect.Type
		output bool
		text   string
	}{
		"misspelt word": {reflect.TypeFor[struct {
			X T `op:"[n] f32 nogard"`
		}](), false, `"nogard" in the tag is`},
		"misspelt word alone": {reflect.TypeFor[struct {
			X T `op:"nogard"`
		}](), false, `"nogard" in the tag is neither an element type`},
		"misspelt type": {reflect.TypeFor[struct {
			X T `op:"[n] bf61"`
		}](), false, `"bf61" in the tag is neither an element type`},
		"lower case": {reflect.TypeFor[struct {
			X T `op:"[n] t:f32"`
		}](), false, `"t" in the tag is no symbol of a type, which begins with a capital`},
		"two symbols": {reflect.TypeFor[struct {
			X T `op:"[n] T|U"`
		}](), false, `"U" in the tag is neither`},
		"two types": {reflect.TypeFor[struct {
			X T `op:"[n] f32 f16"`
		}](), false, `"f16" in the tag is a second type`},
		"a blank in a shape": {reflect.TypeFor[struct {
			X T `op:"[rows, n]"`
		}](), false, `the shape "[rows," in the tag has no end`},
		"no dimension": {reflect.TypeFor[struct {
			X T `op:"[rows,]"`
		}](), false, `the dimension "" of the shape "[rows,]"`},
		"negative size": {reflect.TypeFor[struct {
			X T `op:"[-1]"`
		}](), false, `the dimension "-1"`},
		"raw input": {reflect.TypeFor[struct {
			X T `op:"raw"`
		}](), false, "raw is for outputs"},
		"nograd output": {reflect.TypeFor[struct {
			X T `op:"nograd"`
		}](), true, "nograd is for inputs"},
		"another key": {reflect.TypeFor[struct {
			X T `ops:"[n]"`
		}](), false, "has no op:"},
		"no tensor":    {reflect.TypeFor[struct{ X int }](), false, "ports are exported fields of type autodiff.Tensor"},
		"not exported": {reflect.TypeFor[struct{ x T }](), false, "ports are exported fields of type autodiff.Tensor"},
		"no struct":    {reflect.TypeFor[[]T](), false, "is not a struct of Tensors"},
	} {
		if _, err := portsOf(c.ports, c.output); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", name, err, c.text)
		}
	}
	for _, good := range []reflect.Type{
		reflect.TypeFor[struct{ X T }](),
		reflect.TypeFor[struct {
			X T `op:""`
		}](),
		reflect.TypeFor[struct {
			X T `op:"[] T:bf16|f32 optional"`
		}](),
		reflect.TypeFor[struct {
			X T `op:"[rows_1,64] T2|f32"`
		}](),
	} {
		if _, err := portsOf(good, false); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
}

// What is wrong with an op is said by NewTape, with the line of New.
func TestBadSpecs(t *testing.T) {
	type in struct{ X Tensor }
	type unseen struct {
		M map[string]*struct{ T []Tensor }
	}
	registry.Lock()
	names, errs := registry.names, slices.Clone(registry.errs)
	registry.names, registry.errs = map[string]bool{}, nil
	registry.Unlock()
	defer func() { registry.names, registry.errs = names, errs }()
	fwd := func(*Exec, struct{}, in) (o in, s struct{}, err error) { return o, s, nil }
	New("no_forward", Spec[struct{}, in, in, struct{}]{})
	New("launches", Spec[struct{}, in, in, struct{}]{Forward: fwd, Launches: Launches{Backward: -1}})
	New("params", Spec[unseen, in, in, struct{}]{Forward: func(*Exec, unseen, in) (o in, s struct{}, err error) { return o, s, nil }})
	New("twice", Spec[struct{}, in, in, struct{}]{Forward: fwd})
	New("twice", Spec[struct{}, in, in, struct{}]{Forward: fwd})
	New("two words", Spec[struct{}, in, in, struct{}]{Forward: fwd})
	err := registered()
	for _, text := range []string{
		"no_forward: it has no Forward",
		"launches: it declares 0 and -1 launches; where they depend on the call, LaunchesOf says them",
		"hold a Tensor, whose gradient would be lost: give it a port",
		"twice: another op has this name",
		"two words: the op's name",
	} {
		if !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "tags_test.go:") {
			t.Errorf("the error lacks %q:\n%v", text, err)
		}
	}
}
