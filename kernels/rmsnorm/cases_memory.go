//go:build !gotilegen

package rmsnorm

import (
	"errors"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// memory makes tensors that are too large to be made on the host, without guards. What it could not do is in err; later
// calls then do nothing.
type memory struct {
	r       *tiletest.Run
	tensors []device.Tensor
	err     error
}

// strided is an uninitialised tensor.
func (m *memory) strided(t dtype.Type, shape, strides []int) device.Tensor {
	if m.err != nil {
		return device.Tensor{}
	}
	elems := 1
	for i, n := range shape {
		elems += (n - 1) * strides[i]
	}
	b, err := m.r.Device.Alloc(elems * t.Size())
	if err != nil {
		m.err = err
		return device.Tensor{}
	}
	x, err := device.View(b, 0, t, shape, strides)
	if err != nil {
		m.err = errors.Join(err, b.Close())
		return device.Tensor{}
	}
	m.tensors = append(m.tensors, x)
	return x
}

// matrix is an uninitialised tensor of rows without gaps.
func (m *memory) matrix(t dtype.Type, rows, n int) device.Tensor {
	return m.strided(t, []int{rows, n}, []int{n, 1})
}

// upload writes all of a tensor.
func (m *memory) upload(x device.Tensor, values []float64) {
	if m.err == nil {
		m.err = device.UploadFloats(m.r.Stream, x, values)
	}
}

// repeat fills a matrix with copies of its first rows, which are given: row i is row i mod k of the k.
func (m *memory) repeat(x device.Tensor, first []float64) {
	if m.err != nil {
		return
	}
	row := x.Dim(1) * x.DType().Size()
	m.upload(m.rows(x, 0, len(first)/x.Dim(1)), first)
	total := x.Dim(0) * row
	for done := len(first) * x.DType().Size(); m.err == nil && done < total; done *= 2 {
		m.err = m.r.Stream.Copy(x.Buffer(), done, x.Buffer(), 0, min(done, total-done))
	}
}

// rows is a view of some rows of a matrix of this memory.
func (m *memory) rows(x device.Tensor, from, count int) device.Tensor {
	if m.err != nil {
		return device.Tensor{}
	}
	v, err := device.View(x.Buffer(), from*x.Dim(1), x.DType(), []int{count, x.Dim(1)}, nil)
	m.err = err
	return v
}

// floats reads a tensor.
func (m *memory) floats(x device.Tensor) []float64 {
	if m.err != nil {
		return nil
	}
	got, err := device.DownloadFloats(m.r.Stream, x)
	m.err = err
	return got
}

// bytes reads the memory of a tensor that has a buffer to itself.
func (m *memory) bytes(x device.Tensor) []byte {
	if m.err != nil {
		return nil
	}
	b := make([]byte, x.Buffer().Bytes())
	m.err = m.r.Stream.CopyOut(b, x.Buffer(), 0)
	return b
}

// close gives the memory back, and returns what went wrong.
func (m *memory) close() error {
	for _, x := range m.tensors {
		m.err = errors.Join(m.err, x.Close())
	}
	return m.err
}

// fill sets every byte of a tensor's buffer.
func (m *memory) fill(x device.Tensor, value byte) {
	if m.err == nil {
		m.err = m.r.Stream.Fill(x.Buffer(), 0, x.Buffer().Bytes(), value)
	}
}
