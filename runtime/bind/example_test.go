package bind_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// double is what a generated file has of Y[rows, n] = 2 * X[rows, n], in f32, for rows of up to 64 and of up to 1024.
var double = bind.Family{
	Name:    "launchDouble",
	Symbols: []string{"rows", "n"},
	Fields: []bind.Field{
		{Name: "X", Dims: []bind.Dim{{Symbol: 0}, {Symbol: 1}}},
		{Name: "Y", Dims: []bind.Dim{{Symbol: 0}, {Symbol: 1}}, Written: true},
	},
	Configs: []bind.Config{
		{Kernel: &device.Kernel{Name: "double_c64", Targets: []string{"sm_90a"}}, DTypes: []dtype.Type{dtype.F32, dtype.F32}, Max: []int{0, 64}, Step: 1, Work: []int{0}},
		{Kernel: &device.Kernel{Name: "double_c1024", Targets: []string{"sm_90a"}}, DTypes: []dtype.Type{dtype.F32, dtype.F32}, Max: []int{0, 1024}, Step: 1, Work: []int{0}},
	},
}

// A launch asks its family which config takes the tensors, and gets the dimensions for the argument struct.
func ExampleFamily_Bind() {
	d, _ := device.Open("sim")
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 3, 100)
	y, _ := device.NewTensor(d, dtype.F32, 3, 100)

	var dims [2]int32
	c, err := double.Bind(d.Stream(), []device.Tensor{x, y}, dims[:])
	fmt.Println(double.Configs[c].Kernel.Name, dims, bind.Work(int64(dims[0]), 1), err)

	z, _ := device.NewTensor(d, dtype.F32, 4, 100)
	_, err = double.Bind(d.Stream(), []device.Tensor{x, z}, dims[:])
	fmt.Println(err)

	long, _ := device.NewTensor(d, dtype.F32, 3, 2000)
	_, err = double.Bind(d.Stream(), []device.Tensor{long, long}, dims[:])
	fmt.Println(errors.Is(err, bind.ErrLimit), err)
	// Output:
	// double_c1024 [3 100] 3 <nil>
	// launchDouble: Y: rows (dimension 0) is 4, but X has rows = 3
	// true launchDouble: X: n is 2000; the largest kernel for these types, double_c1024, holds 1024: split it, or add a config with a larger capacity and run gotile gen
}

// Who is to blame for a refused launch, for programs; and divisions as kernels do them, which wrappers need for grids.
func ExampleError() {
	d, _ := device.Open("sim")
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 3, 100)
	z, _ := device.NewTensor(d, dtype.F32, 4, 100)
	var dims [2]int32
	_, err := double.Bind(d.Stream(), []device.Tensor{x, z}, dims[:])
	if refused := (*bind.Error)(nil); errors.As(err, &refused) {
		fmt.Println(refused.Launch, refused.Field, refused.Err)
	}
	fmt.Println(bind.Quo(-7, 2), bind.Rem(-7, 2), bind.Quo(7, 0))
	// Output:
	// launchDouble Y bad shape
	// -3 -1 -1
}
