//go:build !gotilegen

// Package blocks is a stack of blocks, each an RMSNorm with a residual and a gated one, that suites run forward and
// backward.
package blocks

import (
	"fmt"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/data"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// Model is the memory of a stack: its inputs, of rows x n, and two weights a block.
type Model struct {
	H, R, Z device.Tensor // what is normalised, the residual, and the gate of all blocks
	Like    device.Tensor // another one: a target, or the gradient of the output
	Params  []*autodiff.Param
}

// The inputs that the numbers of a model depend on. Weights count from the last on.
const (
	inputH = iota
	inputR
	inputZ
	inputLike
	inputWeights
)

// New makes a stack with uniform numbers in [-1, 1), always the same ones.
func New(s *bench.Setup, dt dtype.Type, blocks, rows, n int) (*Model, error) {
	m := &Model{}
	var err error
	input := func(number int, shape ...int) device.Tensor {
		if err != nil {
			return device.Tensor{}
		}
		var x device.Tensor
		x, err = data.Input(s, dt, number, 0, shape...)
		return x
	}
	m.H, m.R, m.Z, m.Like = input(inputH, rows, n), input(inputR, rows, n), input(inputZ, rows, n), input(inputLike, rows, n)
	for i := range 2 * blocks {
		m.Params = append(m.Params, autodiff.NewParam(fmt.Sprintf("w%d", i), input(inputWeights+i, n)))
	}
	return m, err
}

var params = rmsnorm.Params{Eps: 1e-6}

var gated = rmsnorm.Params{Eps: 1e-6, Act: rmsnorm.Silu}

// stream is what goes from block to block.
type stream struct{ H, S autodiff.Tensor }

// Forward applies the blocks to h: s += h, h = gate(norm(s)). What a block does not hand on ends with it.
func (m *Model) Forward(t *autodiff.Tape, h autodiff.Tensor) autodiff.Tensor {
	z := t.Input("z", m.Z)
	at := stream{H: h, S: t.Input("r", m.R)}
	for i := 0; i < len(m.Params); i += 2 {
		at = autodiff.Block(t, func() stream {
			add := rmsnorm.AddOp.Apply(t, params, rmsnorm.AddIn{X: at.H, R: at.S, W: t.Param(m.Params[i])})
			gate := rmsnorm.GatedOp.Apply(t, gated, rmsnorm.GatedIn{X: add.Y, Z: z, W: t.Param(m.Params[i+1])})
			return stream{H: gate.Y, S: add.S}
		})
	}
	return at.H
}
