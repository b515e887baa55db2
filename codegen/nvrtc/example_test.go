package nvrtc_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/codegen/nvrtc"
)

// On a machine with NVRTC a kernel is compiled without a GPU. Here a library is named that does not exist: nothing else
// is tried then, and the error says how to get one.
func ExampleOpen() {
	lib, err := nvrtc.Open("no/such/libnvrtc.so")
	if err != nil {
		fmt.Println(errors.Is(err, nvrtc.ErrNotFound))
		return
	}
	r, err := lib.Compile(`extern "C" __global__ void f(int *x) { *x = 1; }`, "f.cu", nvrtc.Options{Arch: "sm_90a"})
	if err != nil {
		fmt.Printf("%+v\n", err) // the whole log
		return
	}
	fmt.Println(len(r.CUBIN), "bytes,", r.Registers, "registers,", r.Spill, "bytes spilled")
	// Output: true
}

// The options determine the compiled code, together with the source and the library's version.
func ExampleOptions_Args() {
	for _, a := range (nvrtc.Options{Arch: "sm_90a"}).Args() {
		fmt.Println(a)
	}
	// Output:
	// --gpu-architecture=sm_90a
	// --std=c++17
	// --fmad=false
	// --ptxas-options=-v
}

// Some warnings say that an instruction was ignored: a kernel with such a log is wrong, or slow.
func ExampleFatal() {
	fmt.Println(nvrtc.Fatal("ptxas info : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements."))
	fmt.Println(nvrtc.Fatal("ptxas info : Used 32 registers"))
	// Output:
	// [ptxas info : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements. [setmaxnreg is ignored]]
	// []
}

// The error of a rejected source is one line; the whole log is in it.
func ExampleCompileError() {
	var err error = &nvrtc.CompileError{Name: "scale.cu", Arch: "sm_90a", File: "scale.go", Line: 41, Message: `identifier "y" is undefined`,
		Log: "scale.go(41): error: identifier \"y\" is undefined\n1 error detected in the compilation of \"scale.cu\".\n"}
	fmt.Println(err)
	fmt.Printf("%+v", err)
	// Output:
	// scale.go:41: identifier "y" is undefined (scale.cu for sm_90a)
	// scale.go:41: identifier "y" is undefined (scale.cu for sm_90a)
	// :
	// scale.go(41): error: identifier "y" is undefined
	// 1 error detected in the compilation of "scale.cu".
}
