package progen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/oracle"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile"
)

// Text is the kernel's CUDA C for a target.
func Text(k *tile.Kernel, target string) (string, error) {
	low, err := k.Lower(target)
	if err != nil {
		return "", err
	}
	return cuda.Print(low, cuda.Options{})
}

// guard is what the memory around and between rows holds.
const guard = 0xa5

// Run launches a program on a device and leaves the arrays of l as the device has them after it. A device that wrote
// between the rows of a tensor, or around it, is an error.
func (p Program) Run(ctx context.Context, d *device.Device, k *tile.Kernel, l *oracle.Launch) (err error) {
	low, err := k.Lower(d.Target().Name)
	if err != nil {
		return err
	}
	text, err := cuda.Print(low, cuda.Options{})
	if err != nil {
		return err
	}
	f, err := d.Load(&device.Kernel{Name: k.Name(), Source: text, Targets: k.IR().Targets, Threads: low.Threads, MinBlocks: low.MinBlocks,
		Shared: low.SharedBytes, Cluster: low.Cluster, ArgBytes: low.ArgBytes, Build: func() (device.Program, error) { return k, nil }})
	if err != nil {
		return err
	}
	s := d.Stream()
	tensors := map[string]*tensor{}
	defer func() {
		for _, t := range tensors {
			err = errors.Join(err, t.buf.Close())
		}
	}()
	for name, a := range l.Arrays {
		if tensors[name], err = p.upload(d, a); err != nil {
			return err
		}
	}
	args := pack(low, tensors, l)
	if err := s.Launch(f, l.Grid, unsafe.Pointer(unsafe.SliceData(args))); err != nil {
		return err
	}
	if err := s.Sync(ctx); err != nil {
		return err
	}
	for name, t := range tensors {
		if err := t.download(s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// tensor is an array in device memory.
type tensor struct {
	a       *oracle.Array
	strides []int
	shift   int // elements before the first
	buf     *device.Buffer
	host    []byte // what was uploaded
}

// tail is the guard after a tensor, in elements.
const tail = 16

func (p Program) upload(d *device.Device, a *oracle.Array) (*tensor, error) {
	t := &tensor{a: a, strides: strides(a.Dims, p.Pad), shift: p.Shift}
	size, end := a.DT.Size(), 0
	t.each(func(_, at int) { end = max(end, at+1) })
	t.host = slices.Repeat([]byte{guard}, (end+tail)*size)
	t.each(func(i, at int) { put(t.host[at*size:], a.DT, a.Data[i]) })
	var err error
	if t.buf, err = d.Alloc(len(t.host)); err != nil {
		return nil, err
	}
	return t, d.Stream().CopyIn(t.buf, 0, t.host)
}

// each visits the elements in order, with where they lie in the buffer.
func (t *tensor) each(f func(i, at int)) {
	n := len(t.a.Data)
	for i := range n {
		at, rest := t.shift, i
		for d := len(t.a.Dims) - 1; d >= 0; d-- {
			at += rest % t.a.Dims[d] * t.strides[d]
			rest /= t.a.Dims[d]
		}
		f(i, at)
	}
}

func (t *tensor) download(s *device.Stream) error {
	got, size := make([]byte, len(t.host)), t.a.DT.Size()
	if err := s.CopyOut(got, t.buf, 0); err != nil {
		return err
	}
	element := make([]bool, len(got))
	t.each(func(i, at int) {
		t.a.Data[i] = get(got[at*size:], t.a.DT)
		for b := range size {
			element[at*size+b] = true
		}
	})
	for i, b := range got {
		if !element[i] && b != guard {
			return fmt.Errorf("byte %d, which is no element's, was written", i)
		}
	}
	return nil
}

func put(b []byte, dt dtype.Type, n oracle.Num) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], n.Bits(dt))
	copy(b[:dt.Size()], w[:])
}

func get(b []byte, dt dtype.Type) oracle.Num {
	var w [8]byte
	copy(w[:], b[:dt.Size()])
	return oracle.FromBits(dt, binary.LittleEndian.Uint64(w[:]))
}

// pack lays out the argument struct.
func pack(low *thr.Kernel, tensors map[string]*tensor, l *oracle.Launch) []byte {
	out := make([]byte, low.ArgBytes)
	for _, a := range low.Args {
		to := out[a.Offset:]
		switch a.Kind {
		case thr.ArgPointer:
			t := tensors[a.Arg.Name]
			binary.LittleEndian.PutUint64(to, t.buf.Addr()+uint64(t.shift*t.a.DT.Size()))
		case thr.ArgStride:
			binary.LittleEndian.PutUint64(to, uint64(tensors[a.Arg.Name].strides[a.Axis]))
		case thr.ArgScalar:
			put(to, a.Arg.DT, l.Scalars[a.Arg.Name])
		case thr.ArgDim:
			binary.LittleEndian.PutUint32(to, uint32(l.Dims[a.Symbol.Name]))
		}
	}
	return out
}

// Differ compares what two executions left behind, bit by bit, and says where they differ first; empty: nowhere. With
// loose zeros the two zeros of floats are one: the oracle keeps no account of their signs.
func Differ(got, want *oracle.Launch, looseZeros bool) string {
	names := make([]string, 0, len(want.Arrays))
	for name := range want.Arrays {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		g, w := got.Arrays[name], want.Arrays[name]
		for i := range w.Data {
			a, b := g.Data[i], w.Data[i]
			if looseZeros && a.F == 0 && b.F == 0 && a.I == b.I || a.Bits(g.DT) == b.Bits(w.DT) {
				continue
			}
			return fmt.Sprintf("%s%v: element %d is %s, want %s", name, w.Dims, i, a.Text(g.DT), b.Text(w.DT))
		}
	}
	return ""
}
