package device_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// A tensor with padded rows, filled from the host and read back.
func ExampleView() {
	d, err := device.Open("sim")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	b, _ := d.Alloc(2 * 8 * dtype.BF16.Size())
	x, _ := device.View(b, 0, dtype.BF16, []int{2, 3}, []int{8, 1})
	if err := device.UploadFloats(d.Stream(), x, []float64{1, 2, 3, 4, 5, 1.0 / 3}); err != nil {
		fmt.Println(err)
		return
	}
	y, _ := device.DownloadFloats(d.Stream(), x)
	fmt.Println(x, y)
	// Output: bf16[2, 3] with strides [8 1] [1 2 3 4 5 0.333984375]
}

// Errors are values to ask, and name the device and the numbers.
func ExampleError() {
	d, _ := device.Open("sim", device.WithSim(device.SimConfig{Memory: 1 << 20}))
	defer d.Close()
	_, err := d.Alloc(2 << 20)
	fmt.Println(errors.Is(err, device.ErrOutOfMemory))
	fmt.Println(err)
	// Output:
	// true
	// device: sim: 2097152 bytes: sim.Memory.Alloc: out of memory (0 of 1048576 bytes in use)
}

// Tensors know where they live; work on another device refuses them.
func ExampleTensor_Check() {
	a, _ := device.Open("sim")
	b, _ := device.Open("sim")
	defer a.Close()
	defer b.Close()
	x, _ := device.NewTensor(a, dtype.F32, 4)
	fmt.Println(x.Check(a), errors.Is(x.Check(b), device.ErrWrongDevice))
	x.Close()
	fmt.Println(errors.Is(x.Check(a), device.ErrClosed))
	// Output:
	// <nil> true
	// true
}

// Stream-ordered tensors: each step's memory is the last step's, without a wait in between.
func ExampleStream_NewTensor() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := d.Stream()
	for range 3 {
		x, err := s.NewTensor(dtype.F32, 2, 3)
		if err != nil {
			fmt.Println(err)
			return
		}
		s.Fill(x.Buffer(), 0, x.Buffer().Bytes(), 0)
		x.Close()
	}
	fmt.Println(d.Memory())
	// Output: {0 0 24}
}

// Work that is queued once and replayed: here a fill and a copy; mostly launches.
func ExampleStream_Capture() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := d.Stream()
	x, _ := device.NewTensor(d, dtype.I32, 2)
	y, _ := device.NewTensor(d, dtype.I32, 2)
	g, err := s.Capture(func() error {
		if err := s.Copy(y.Buffer(), 0, x.Buffer(), 0, 8); err != nil {
			return err
		}
		return s.Fill(x.Buffer(), 0, 8, 0)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	device.UploadFloats(s, x, []float64{3, 4})
	g.Launch(s)
	out, _ := device.DownloadFloats(s, y)
	fmt.Println(g.Nodes(), out)

	_, err = s.Capture(func() error {
		_, err := d.Alloc(8)
		return err
	})
	fmt.Println(errors.Is(err, device.ErrCapture))
	// Output:
	// 2 [3 4]
	// true
}

// Copies that the host does not wait for need pinned memory.
func ExampleDevice_Pinned() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := d.Stream()
	x, _ := d.Alloc(5)
	host, err := d.Pinned(10)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer host.Close()
	copy(host.Bytes(), "hello")
	s.CopyInAsync(x, 0, host, 0, 5)
	s.CopyOutAsync(host, 5, x, 0, 5)
	s.Sync(context.Background()) // until here the bytes belong to the device
	fmt.Printf("%s\n", host.Bytes())
	// Output: hellohello
}
