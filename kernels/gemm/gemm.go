//go:build !gotilegen

package gemm

import (
	"slices"
	"strings"

	"github.com/gotile/gotile/runtime/device"
)

// Inputs are the operands of d = A B + C + bias, or of a batch of such products: all matrices then have one dimension more,
// the first. Rows may be padded and matrices lie apart (any strides of the leading dimensions), and bases be unaligned;
// where bases and strides are multiples of 16 bytes it is faster. All sizes may be 0.
type Inputs struct {
	A    device.Tensor // [m, k] of bf16, f16 or f32; [k, m] in the forms TN and TT
	B    device.Tensor // [k, n] of A's type; [n, k] in the forms NT and TT
	C    device.Tensor // [m, n] of d's type, added to the product; unset: nothing. It may be d itself, which accumulates
	Bias device.Tensor // [n] of A's type, added to each row; unset: nothing

	Accuracy Accuracy // of products of f32

	// Scratch, as many contiguous f32 as ScratchSize says, lets a product be computed in parts of k, which are added up
	// afterwards: where d is small and k long, that is how all multiprocessors have work. Unset, or too small: it is not.
	Scratch device.Tensor
}

// Accuracy says how f32 is multiplied. The sums are f32 in any case.
type Accuracy uint8

// The accuracies.
const (
	Plain  Accuracy = iota // in f32, without tensor cores
	TF32                   // by tensor cores as tf32: errors up to some 1e-3 of the largest element
	TF32x3                 // as sums of two numbers of tf32 each, three products: errors below 1e-5
)

// Multiply computes d, of A's type or f32, from the inputs. Sums are f32, in an order that depends on the sizes, the
// scratch and the device only: the same call has the same result. Products of f32 are as accurate as the inputs ask.
// There is one launch, or with scratch two; none where d has no elements. Tensors that are wrong or do not agree are
// refused with a *bind.Error that names them, and nothing is launched. d must not overlap A, B, Bias or Scratch, which is
// not checked.
func Multiply(s *device.Stream, form Form, in Inputs, d device.Tensor) error {
	return multiply(s, form, in, d, Choice{})
}

// Choice is how a product is computed. What is zero is chosen by the sizes and the device.
type Choice struct {
	Size   string // of the kernel's tiles, with its instruction: one of Sizes
	Splits int    // parts of k, for which there is scratch
	Sync   bool   // by mma.sync, the multiply of warps that all targets have, also where there is wgmma
}

// Sizes lists the sizes of kernels, by name.
func Sizes() []string {
	var out []string
	for _, z := range sizes {
		out = append(out, z.name)
	}
	return out
}

// MultiplyBy is Multiply with a choice, for benchmarks: what the kernel of a size cannot take is refused.
func MultiplyBy(s *device.Stream, form Form, in Inputs, d device.Tensor, how Choice) error {
	if how.Size != "" && !slices.Contains(Sizes(), how.Size) {
		return refuse("Choice.Size", device.ErrShape, "no kernel has size %q; have %s", how.Size, strings.Join(Sizes(), ", "))
	}
	return multiply(s, form, in, d, how)
}

// ScratchSize is how many f32 of scratch the product of these tensors wants; 0: none.
func ScratchSize(s *device.Stream, form Form, in Inputs, d device.Tensor) (int, error) {
	c, err := newCall(form, in, d)
	if err != nil || d.Elems() == 0 {
		return 0, err
	}
	how := c.choose(s.Device(), Choice{}, maxSplits)
	if how.Splits == 1 {
		return 0, nil
	}
	return how.Splits * d.Elems(), nil
}

// multiply is Multiply with what is set of a choice.
func multiply(s *device.Stream, form Form, in Inputs, d device.Tensor, how Choice) error {
	c, err := newCall(form, in, d)
	if err != nil || d.Elems() == 0 {
		return err
	}
	room := 1 // for so many parts
	if set(in.Scratch) && in.Scratch.Addr()%16 == 0 {
		room = max(1, in.Scratch.Elems()/d.Elems())
	}
	return inWords(c.launch(s, c.choose(s.Device(), how, room), in.Scratch))
}
