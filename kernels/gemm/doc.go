// Package gemm multiplies matrices by tensor cores: d = A B + C + bias in four forms, of bf16, f16 and f32 with sums in f32,
// for any sizes, strides and batches.
//
// There are kernels of several sizes, one for each form and type. Those called wgmma have a producer warp that copies tiles
// of the operands into a pipeline by tensor copies (TMA), and two warpgroups that multiply them. Those called tma do so by
// mma.sync, and those called async copy by cp.async, which all targets have; async64 takes any tensors. Products of f32
// have kernels of their own, as tf32, as three products of it (3xTF32), and without tensor cores. Blocks are persistent;
// they take tiles in super-rows, which share operands in L2. Long products with few tiles are computed in parts of k,
// which are added up in their order.
package gemm
