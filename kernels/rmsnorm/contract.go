//go:build !gotilegen

package rmsnorm

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// The contracts are the families of kernels as callers of this package know them: errors name its functions and
// fields, and a backward pass is one thing although it is two launches, so that nothing is launched unless all of it is
// right. A contract's configs are its family's, by number.
var (
	forwardContract = contract("rmsnorm.Forward", forwardFamily, "Inputs.X", "Outputs.Y", "Inputs.W", "Outputs.Rstd")

	forwardAddContract = contract("rmsnorm.Forward", forwardAddFamily,
		"Inputs.X", "Inputs.R", "Outputs.S", "Outputs.Y", "Inputs.W", "Outputs.Rstd")

	backwardContract = withDW(contract("rmsnorm.Backward", backwardFamily,
		"Saved.X", "Saved.DY", "Gradients.DX", "Saved.W", "Saved.Rstd", "part"))

	backwardAddContract = withDW(contract("rmsnorm.Backward", backwardAddFamily,
		"Saved.X", "Saved.DY", "Saved.DS", "Gradients.DX", "Saved.W", "Saved.Rstd", "part"))
)

// contract is a family with other names for its launch and its fields, in their order.
func contract(launch string, f bind.Family, names ...string) bind.Family {
	f.Name, f.Fields, f.Configs = launch, slices.Clone(f.Fields), slices.Clone(f.Configs)
	for i := range f.Fields {
		f.Fields[i].Name = names[i]
	}
	return f
}

// withDW adds the output of the second launch: dw, [n], of w's type.
func withDW(f bind.Family) bind.Family {
	w := slices.IndexFunc(f.Fields, func(field bind.Field) bool { return field.Name == "Saved.W" })
	f.Fields = append(f.Fields, bind.Field{Name: "Gradients.DW", Dims: f.Fields[w].Dims, Written: true})
	for i := range f.Configs {
		c := &f.Configs[i]
		c.DTypes = append(slices.Clone(c.DTypes), c.DTypes[w])
	}
	return f
}

// checkLength refuses rows of no element, which have no mean, and rows that no kernel holds.
func checkLength(launch, field string, x device.Tensor) error {
	if x.Rank() != 2 { // left to the contract
		return nil
	}
	n, most := x.Dim(1), capacities[len(capacities)-1]
	switch {
	case n < 1:
		return &bind.Error{Launch: launch, Field: field, Err: device.ErrShape, Detail: fmt.Sprintf("n is %d; a row has 1 to %d elements", n, most)}
	case n > most:
		return &bind.Error{Launch: launch, Field: field, Err: bind.ErrLimit, Detail: fmt.Sprintf("n is %d; a row has 1 to %d elements", n, most)}
	}
	return nil
}

// checkInputs refuses half a residual and rows of a wrong length, which the contract would describe otherwise or take.
func checkInputs(in Inputs, out Outputs) error {
	if set(in.R) != set(out.S) {
		field, other := "Outputs.S", "Inputs.R"
		if set(out.S) {
			field, other = other, field
		}
		return &bind.Error{Launch: forwardContract.Name, Field: field, Err: device.ErrShape,
			Detail: fmt.Sprintf("the tensor is not set, but %s is: a residual needs both", other)}
	}
	return checkLength(forwardContract.Name, "Inputs.X", in.X)
}

// checkForward says what is wrong with the tensors of a forward pass. The launch checks the same, so this is for its
// errors only.
func checkForward(s *device.Stream, in Inputs, out Outputs) error {
	var dims [2]int32
	var err error
	if set(in.R) {
		tensors := [...]device.Tensor{in.X, in.R, out.S, out.Y, in.W, out.Rstd}
		_, err = forwardAddContract.Bind(s, tensors[:], dims[:])
	} else {
		tensors := [...]device.Tensor{in.X, out.Y, in.W, out.Rstd}
		_, err = forwardContract.Bind(s, tensors[:], dims[:])
	}
	return err
}

// checkBackward says what is wrong with the tensors of a backward pass, and how many rows part needs. Unless all is
// set, tensors that are not are not asked for.
func checkBackward(s *device.Stream, in Saved, out Gradients, part device.Tensor, all bool) (int, error) {
	if err := checkLength(backwardContract.Name, "Saved.X", in.X); err != nil {
		return 0, err
	}
	if set(in.W) && set(out.DW) && in.W.DType() != out.DW.DType() {
		return 0, &bind.Error{Launch: backwardContract.Name, Field: "Gradients.DW", Err: device.ErrDType,
			Detail: fmt.Sprintf("its type is %v, but that of Saved.W is %v: they must be one", out.DW.DType(), in.W.DType())}
	}
	var dims [3]int32
	var need int
	if set(in.DS) {
		tensors := [...]device.Tensor{in.X, in.DY, in.DS, out.DX, in.W, in.Rstd, part, out.DW}
		config, err := choose(&backwardAddContract, s, tensors[:], dims[:], all)
		if err != nil {
			return 0, err
		}
		if need, err = backwardAddContract.Resident(s, config, dims[:], backwardAddWork(config, &backwardAddParams{}, dims[:])); err != nil {
			return 0, err
		}
	} else {
		tensors := [...]device.Tensor{in.X, in.DY, out.DX, in.W, in.Rstd, part, out.DW}
		config, err := choose(&backwardContract, s, tensors[:], dims[:], all)
		if err != nil {
			return 0, err
		}
		if need, err = backwardContract.Resident(s, config, dims[:], backwardWork(config, &backwardParams{}, dims[:])); err != nil {
			return 0, err
		}
	}
	need = max(need, 1) // no rows: one block writes the zeros that dw then is
	if all && int(dims[2]) < need {
		return 0, &bind.Error{Launch: backwardContract.Name, Field: "part", Err: device.ErrShape,
			Detail: fmt.Sprintf("it has %d rows; here it needs %d, as Parts says", dims[2], need)}
	}
	return need, nil
}

// choose binds a contract: to all of its tensors, or to those that are set.
func choose(f *bind.Family, s *device.Stream, tensors []device.Tensor, dims []int32, all bool) (int, error) {
	if all {
		return f.Bind(s, tensors, dims)
	}
	return f.BindKnown(s, tensors, dims)
}

func set(t device.Tensor) bool { return t.DType() != dtype.Invalid }
