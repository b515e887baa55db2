package device_test

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile"
)

// One program for a GPU and for the simulator: a tensor is filled from the host and read back.
func ExampleOpen() {
	d, err := device.Open("sim") // or "cuda:0"; device.Default takes the GPU if there is one
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.Name(), d.Info().GPU, d.Target().Name)

	x, _ := device.NewTensor(d, dtype.I32, 2, 2)
	device.Upload(d.Stream(), x, []dtype.Int32{1, 2, 3, 4}) // in row-major order
	out := make([]dtype.Int32, 4)
	device.Download(d.Stream(), out, x)
	fmt.Println(x, out)

	_, err = device.Open("cuda:99")
	fmt.Println(errors.Is(err, device.ErrNoDevice))
	// Output:
	// sim sim sm_90a
	// i32[2, 2] [1 2 3 4]
	// true
}

type tripleArgs struct {
	X tile.Global[tile.I32] `tile:"n"`
}

// triple is a kernel as a generated file hands it over, but without the CUDA C for a GPU.
var triple = &device.Kernel{Name: "triple", Threads: 32, ArgBytes: 16, Build: func() (device.Program, error) {
	return tile.Define("triple", func(k *tile.Builder, a tripleArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(32, 1))
		tile.Store(k, a.X, x.Mul(tile.I32(3)))
	}, tile.Threads(32))
}}

// What a generated launch does in the end: load the kernel, once, and queue it with the argument struct. The device
// counts launches by kernel and phase.
func ExampleDevice_Load() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := d.Stream()
	x, _ := device.NewTensor(d, dtype.I32, 3)
	device.UploadFloats(s, x, []float64{1, 2, 3})

	f, err := d.Load(triple)
	if err != nil {
		fmt.Println(err)
		return
	}
	args := struct {
		x uint64
		n int32
		_ int32
	}{x.Addr(), 3, 0}
	s.SetPhase("forward")
	s.Launch(f, 1, unsafe.Pointer(&args))
	if err := s.Sync(context.Background()); err != nil { // what goes wrong on the device is reported here
		fmt.Println(err)
		return
	}
	out, _ := device.DownloadFloats(s, x)
	fmt.Println(out, d.LaunchesBy())
	// Output: [3 6 9] map[{triple forward}:1]
}

// Streams run beside one another; an event orders them.
func ExampleStream_Wait() {
	d, _ := device.Open("sim")
	defer d.Close()
	producer, _ := d.NewStream()
	defer producer.Close()
	consumer, _ := d.NewStream()
	defer consumer.Close()
	x, _ := d.Alloc(4)
	y, _ := d.Alloc(4)

	producer.Fill(x, 0, 4, 7)
	filled, _ := producer.Record()
	defer filled.Close()
	consumer.Wait(filled)
	consumer.Copy(y, 0, x, 0, 4)

	out := make([]byte, 4)
	consumer.CopyOut(out, y, 0)
	fmt.Println(out)
	// Output: [7 7 7 7]
}

// Devices of one process that share Images compile each kernel once. The simulator compiles nothing.
func ExampleImages() {
	var images device.Images
	for range 2 {
		d, err := device.Open("sim", device.WithImages(&images))
		fmt.Println(d.Kind(), err)
		d.Close()
	}
	// Output:
	// sim <nil>
	// sim <nil>
}
