// Package gemm multiplies matrices by tensor cores: d = A B + C + bias in four forms, of bf16 and f16 with sums in f32, for
// any sizes, strides and batches.
//
// There are kernels of several sizes, one for each form and type. Those called tma have a producer warp that copies tiles of
// the operands into a pipeline by tensor copies (TMA) and warps that multiply them by mma.sync; those called async have all
// warps do both, by cp.async. Blocks are persistent; they take tiles in super-rows, which share operands in L2.
package gemm
