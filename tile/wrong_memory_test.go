package tile_test

import "github.com/gotile/gotile/tile"

var wrongMemory = []wrong{
	{name: "read-only store", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.Store(k, a.S, tile.F32(0), tile.ReadOnly) // ERR Store with the read-only hint: the read-only path cannot write; use another hint, or none
	}},
	{name: "two hints", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(k, a.S, tile.Streaming, tile.L2Only) // ERR Load with 2 cache hints: an access has one; drop the others
	}},
	{name: "unknown hint", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(k, a.S, tile.Hint(77)) // ERR Load with unknown cache hint 77; use Streaming, ReadOnly, L2Only, EvictFirst or EvictLast
	}},
	{name: "read-only load of what is written", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.LoadScalar(k, a.S, tile.ReadOnly) // ERR Load of S with the read-only hint, but the kernel writes S: the read-only path may give old values; drop the hint
		tile.Store(k, a.S, x.Add(x))
	}},
	{name: "shared tile of gigabytes", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewShared[tile.F32](k, 1<<32, 1<<30) // ERR NewShared with sizes [4294967296 1073741824] of f32: no target has more than 227 KB a block; make the tile smaller
		tile.NewShared[tile.F32](k, 1<<18, 2)     // ERR NewShared with sizes [262144 2] of f32: no target has more than 227 KB a block; make the tile smaller
	}},
	{name: "hints on shared memory", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 128)
		tile.Store(k, s.At(0), tile.F32(0), tile.L2Only) // ERR cache hint cg on the shared tile of @-1: hints are for global memory; drop it
		tile.LoadScalar(k, s, tile.Streaming)            // ERR cache hint cs on the shared tile of @-2: hints are for global memory; drop it
	}},
	{name: "atomics on shared memory", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.AtomicAdd(k, tile.NewShared[tile.I32](k, 128), tile.I32(1)) // ERR AtomicAdd on the shared tile of @+0: atomics work on global memory; reduce, then Store
	}},
	{name: "PTX without a simulator", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.PTX[tile.F32]("neg.f32 %0, %1;", nil, a.Eps) // ERR PTX "neg.f32 %0, %1;" without a function for the simulator; give one that computes the same
	}},
	{name: "PTX beyond ASCII", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.PTX[tile.F32]("neg.f32 %0, %1; // −x", func(in []uint64) uint64 { return in[0] ^ 1<<31 }, a.Eps) // ERR PTX "neg.f32 %0, %1; // −x" has "\xe2" at byte 19: PTX is ASCII; drop it
	}},
	{name: "PTX on 16-bit floats", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		same := func(in []uint64) uint64 { return in[0] }
		h := tile.LoadScalar(k, a.H.At(0, 0))
		tile.PTX[tile.BF16]("mov.b32 %0, %1;", same, a.Eps) // ERR PTX "mov.b32 %0, %1;" has bf16 as %0: registers of PTX are f32, i32, u32 or i64; cast, or bitcast through u32
		tile.PTX[tile.F32]("mov.b32 %0, %1;", same, h)      // ERR PTX "mov.b32 %0, %1;" has bf16 as %1: registers of PTX are f32, i32, u32 or i64; cast, or bitcast through u32
	}},
	{name: "PTX operands", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		same := func(in []uint64) uint64 { return in[0] }
		tile.PTX[tile.F32]("neg.f32 %0, %2;", same, a.Eps)        // ERR PTX "neg.f32 %0, %2;" names %2, but has 1 operand; name %0 for the result, %1 for the first operand
		tile.PTX[tile.F32]("neg.f32 %0, %1;", same, a.Eps, a.Eps) // ERR PTX "neg.f32 %0, %1;" does not name %2; name %0 for the result, %1 for the first operand
	}},
}
