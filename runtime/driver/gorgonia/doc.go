// Package gorgonia is the driver on gorgonia.org/cu, for programs that already hold its contexts, streams and device
// pointers. It exists in builds with -tags gorgonia, which need cgo, cuda.h and something to link libcuda with;
// prepare.sh beside this file brings all three. In such a build package device opens GPUs with it.
//
// Adopt makes a driver of a context that the program holds, for device.WithDriver; ContextOf hands out the context of a
// device. Stream and StreamOf, and plain conversions of cu.DevicePtr and driver.Ptr, do the same for streams and memory:
//
//	name, drv, err := gorgonia.Adopt(ctx.CUDAContext())
//	d, err := device.Open(name, device.WithDriver(drv))
//	s, err := d.AdoptStream(gorgonia.Stream(stream))
//	b, err := d.AdoptBuffer(driver.Ptr(ptr), bytes)
//
// What was adopted stays its owner's: closing our side of it gives nothing back.
//
// A program that imports gorgonia.org/cu ends before main, with exit code 1, where there is no GPU: that package calls
// cuInit when it is initialised, and exits where that fails. This package says so on standard error before. Programs
// that are to run on machines without a GPU are built without the tag.
//
// gorgonia.org/cu has no function attributes to set, launches without attributes (clusters), no tensor maps, stream
// capture, stream-ordered or page-locked memory, and its launch copies 8 bytes an argument; extra.go has these. No other
// package of gotile but the example imports gorgonia.org/cu.
package gorgonia
