//go:build !gotilegen

package rmsnorm

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// form is one of the forms of the operation: which tensors there are beside x and w. Each has families of its own.
type form int

const (
	plain form = iota
	added
	gatedSilu
	gatedSigmoid
	forms
)

// gated is the form with a gate of an activation.
func gated(a Activation) form {
	if a == Sigmoid {
		return gatedSigmoid
	}
	return gatedSilu
}

// The contracts are the families of kernels as callers of this package know them: errors name its functions and
// fields, and a backward pass is one thing although it is several launches, so that nothing is launched unless all of
// it is right.
var (
	forwards = [forms]bind.Family{
		plain:        forwardContract(forwardFamily),
		added:        forwardContract(forwardAddFamily),
		gatedSilu:    forwardContract(forwardSiluFamily),
		gatedSigmoid: forwardContract(forwardSigmoidFamily),
	}
	backwards = [forms]backwardContract{
		plain:        newBackwardContract(backwardFamily, stripesFamily, oneFamily, plainBackward()),
		added:        newBackwardContract(backwardAddFamily, stripesAddFamily, oneAddFamily, addBackward()),
		gatedSilu:    newBackwardContract(backwardSiluFamily, stripesSiluFamily, oneSiluFamily, gateBackward(Silu)),
		gatedSigmoid: newBackwardContract(backwardSigmoidFamily, stripesSigmoidFamily, oneSigmoidFamily, gateBackward(Sigmoid)),
	}
)

const (
	forwardName  = "rmsnorm.Forward"
	backwardName = "rmsnorm.Backward"
)

// forwardContract is a forward family in the words of Forward.
func forwardContract(f bind.Family) bind.Family {
	f.Name, f.Fields = forwardName, slices.Clone(f.Fields)
	for i := range f.Fields {
		owner := "Inputs."
		if f.Fields[i].Written {
			owner = "Outputs."
		}
		f.Fields[i].Name = owner + f.Fields[i].Name
	}
	return f
}

// backwardContract is all launches of a backward pass. Its configs are those of the kernels that hold a row in
// registers, numbered as in their family, and then those of the stripes of wide rows.
type backwardContract struct {
	bind.Family
	narrow int         // configs that hold a row
	one    bind.Family // the kernels that need no second launch
	oneOf  []int       // the config of one for a config that holds a row, or -1
	held   []Config    // those that hold a row
}

func newBackwardContract(narrow, wide, one bind.Family, held []Config) backwardContract {
	scratch := func(f bind.Field) bool { return f.Name == "Part" || f.Name == "Mean" }
	c := backwardContract{Family: narrow, narrow: len(narrow.Configs), one: one, held: held}
	c.Name, c.Fields, c.Configs = backwardName, nil, nil
	w := slices.IndexFunc(narrow.Fields, func(f bind.Field) bool { return f.Name == "W" })
	for _, f := range narrow.Fields {
		if scratch(f) {
			continue
		}
		switch {
		case f.Written:
			f.Name = "Gradients." + f.Name
		case f.Name == "S": // in backward the sum is the input
			f.Name = "Saved.X"
		default:
			f.Name = "Saved." + f.Name
		}
		c.Fields = append(c.Fields, f)
	}
	c.Fields = append(c.Fields, bind.Field{Name: "Gradients.DW", Dims: narrow.Fields[w].Dims, Written: true})
	for _, f := range []bind.Family{narrow, wide} {
		for _, config := range f.Configs {
			var types []dtype.Type
			var aligned []int
			for i, t := range config.DTypes {
				if scratch(f.Fields[i]) {
					continue
				}
				if slices.Contains(config.Aligned, i) {
					aligned = append(aligned, len(types))
				}
				types = append(types, t)
			}
			config.Aligned = aligned
			config.DTypes = append(types, config.DTypes[w])
			config.Exact = false      // the grid is what is asked for here
			config.Work = []int{0, 1} // it depends on rows and n
			c.Configs = append(c.Configs, config)
		}
	}
	// The fields up to w are the same, and so are the dimensions rows and n.
	for _, config := range narrow.Configs {
		c.oneOf = append(c.oneOf, slices.IndexFunc(one.Configs, func(o bind.Config) bool {
			return slices.Equal(o.DTypes[:w+1], config.DTypes[:w+1]) && slices.Equal(o.Max[:2], config.Max[:2]) &&
				(o.Multiple == nil) == (config.Multiple == nil)
		}))
	}
	return c
}

// refuse is an error about one field.
func refuse(launch, field string, sentinel error, format string, args ...any) error {
	return &bind.Error{Launch: launch, Field: field, Err: sentinel, Detail: fmt.Sprintf(format, args...)}
}

// checkLength refuses rows of no element, which have no mean.
func checkLength(launch, field string, x device.Tensor) error {
	if x.Rank() == 2 && x.Dim(1) < 1 { // other ranks are left to the contract
		return refuse(launch, field, device.ErrShape, "n is %d; a row has at least 1 element", x.Dim(1))
	}
	return nil
}

// checkEps refuses what no sum of squares may have added: the root of a negative number is none, and with an infinite
// one all is 0.
func checkEps(eps float32) error {
	if eps >= 0 && eps <= math.MaxFloat32 { // no NaN either
		return nil
	}
	return refuse(forwardName, "Inputs.Eps", bind.ErrValue, "it is %v; the number that is added to the mean of the squares is finite and not negative", eps)
}

// checkGate refuses half a gate, and one beside a residual.
func checkGate(launch, owner string, z device.Tensor, act Activation, residual string, hasResidual bool) error {
	switch {
	case act != 0 && !act.known():
		return refuse(launch, owner+"Act", device.ErrDType, "%v is no activation: use Sigmoid or Silu", act)
	case set(z) && act == 0:
		return refuse(launch, owner+"Act", device.ErrShape, "the activation is not set, but %sZ is: a gate needs both", owner)
	case !set(z) && act != 0:
		return refuse(launch, owner+"Z", device.ErrShape, "the tensor is not set, but %sAct is %v: a gate needs both", owner, act)
	case set(z) && hasResidual:
		return refuse(launch, owner+"Z", device.ErrShape, "there is a gate, and with %s a residual: no kernel has both; add first and drop %s", residual, residual)
	}
	return nil
}

// formOfForward is the form of the inputs. It refuses what the contract would describe otherwise or take: half a
// residual or gate, rows without elements, and an Eps that is none.
func formOfForward(in Inputs, out Outputs) (form, error) {
	if set(in.R) != set(out.S) {
		field, other := "Outputs.S", "Inputs.R"
		if set(out.S) {
			field, other = other, field
		}
		return 0, refuse(forwardName, field, device.ErrShape, "the tensor is not set, but %s is: a residual needs both", other)
	}
	if err := checkGate(forwardName, "Inputs.", in.Z, in.Act, "Inputs.R", set(in.R)); err != nil {
		return 0, err
	}
	if err := checkLength(forwardName, "Inputs.X", in.X); err != nil {
		return 0, err
	}
	if err := checkEps(in.Eps); err != nil {
		return 0, err
	}
	switch {
	case set(in.R):
		return added, nil
	case set(in.Z):
		return gated(in.Act), nil
	}
	return plain, nil
}

// checkForward says what is wrong with the tensors of a forward pass. The launch checks the same, so this is for its
// errors only.
func checkForward(s *device.Stream, form form, in Inputs, out Outputs) error {
	tensors := []device.Tensor{in.X, out.Y, in.W, out.Rstd}
	switch form {
	case added:
		tensors = []device.Tensor{in.X, in.R, out.S, out.Y, in.W, out.Rstd}
	case gatedSilu, gatedSigmoid:
		tensors = []device.Tensor{in.X, in.Z, out.Y, in.W, out.Rstd}
	}
	var dims [2]int32
	_, err := forwards[form].Bind(s, tensors, dims[:])
	return err
}

// formOfBackward is the form of what was saved.
func formOfBackward(in Saved, out Gradients) (form, error) {
	if err := checkGate(backwardName, "Saved.", in.Z, in.Act, "Saved.DS", set(in.DS)); err != nil {
		return 0, err
	}
	if set(out.DZ) && !set(in.Z) {
		return 0, refuse(backwardName, "Saved.Z", device.ErrShape, "the tensor is not set, but Gradients.DZ is: a gate needs both")
	}
	if err := checkLength(backwardName, "Saved.X", in.X); err != nil {
		return 0, err
	}
	if set(in.W) && set(out.DW) && in.W.DType() != out.DW.DType() {
		return 0, refuse(backwardName, "Gradients.DW", device.ErrDType, "its type is %v, but that of Saved.W is %v: they must be one", out.DW.DType(), in.W.DType())
	}
	switch {
	case set(in.DS):
		return added, nil
	case set(in.Z):
		return gated(in.Act), nil
	}
	return plain, nil
}

// plan is how a backward pass runs.
type plan struct {
	form    form
	one     bool // one launch
	wide    bool // three launches
	rows, n int
	parts   int // shares of dw
}

// groups is how many sums of shares the last blocks of a single launch write.
func (p plan) groups() int {
	if p.one {
		return (p.parts-1)/groupSize + 1
	}
	return 0
}

// means is how many rows have their mean in the scratch.
func (p plan) means() int {
	if p.wide {
		return p.rows
	}
	return 0
}

// planBackward checks the tensors of a backward pass. Unless all is set, tensors that are not are not asked for. Passes
// of at most work elements are one launch, if there is a kernel for that.
func planBackward(s *device.Stream, in Saved, out Gradients, all bool, work int) (plan, error) {
	form, err := formOfBackward(in, out)
	if err != nil {
		return plan{}, err
	}
	var tensors [8]device.Tensor
	var count int
	switch form {
	case added:
		count = copy(tensors[:], []device.Tensor{in.X, in.DY, in.DS, out.DX, in.W, in.Rstd, out.DW})
	case gatedSilu, gatedSigmoid:
		count = copy(tensors[:], []device.Tensor{in.X, in.Z, in.DY, out.DX, out.DZ, in.W, in.Rstd, out.DW})
	default:
		count = copy(tensors[:], []device.Tensor{in.X, in.DY, out.DX, in.W, in.Rstd, out.DW})
	}
	c := &backwards[form]
	var dims [3]int32
	var config int
	if all {
		config, err = c.Bind(s, tensors[:count], dims[:])
	} else {
		config, err = c.BindKnown(s, tensors[:count], dims[:])
	}
	if err != nil {
		return plan{}, err
	}
	p := plan{form: form, wide: config >= c.narrow, rows: int(dims[0]), n: int(dims[1])}
	const vector = 16 // bytes: the kernel of one launch writes dw by them
	p.one = !p.wide && c.oneOf[config] >= 0 && p.rows*p.n <= work && (!set(out.DW) || out.DW.Addr()%vector == 0)
	switch {
	case p.wide:
		p.parts, err = c.stripes(s, config, p)
	case p.one:
		k := c.oneOf[config]
		p.parts, err = c.one.Resident(s, k, dims[:], bind.Work(int64(p.rows), c.one.Configs[k].Step))
		p.parts = min(p.parts, mostParts)
	default:
		held := c.held[config]
		p.parts, err = c.Resident(s, config, dims[:], bind.Work(int64(p.rows), held.step()))
		p.parts = held.parts(p.rows, p.parts)
	}
	p.parts = max(p.parts, 1) // no rows: one block writes the zeros that dw then is
	return p, err
}

// stripes is the number of groups of rows of a wide pass: so many that a block for each stripe of each of them is
// resident at once.
func (c *backwardContract) stripes(s *device.Stream, config int, p plan) (int, error) {
	const any = 1 << 30
	resident, err := c.Resident(s, config, []int32{0, 0, 0}, any)
	if err != nil {
		return 0, err
	}
	stripe := stripeBytes / c.Configs[config].DTypes[0].Size() // columns
	return min(p.rows, resident/((p.n-1)/stripe+1)), nil
}

func set(t device.Tensor) bool { return t.DType() != dtype.Invalid }
