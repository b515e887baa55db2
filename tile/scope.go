package tile

import "github.com/gotile/gotile/internal/ir"

// Scope is who executes an op together: the block (a Block, or the Builder itself) or each warp for itself (a Warp).
type Scope interface {
	scope() (*ir.Builder, ir.Scope)
}

// Builder records one kernel. Define makes it; it is also the block scope.
type Builder struct {
	_ [0]func()
	b *ir.Builder
}

// Block is the scope of all threads of a block.
type Block struct {
	_ [0]func()
	b *ir.Builder
}

// Warp is the scope of 32 threads: each warp of the block executes the op for itself, on its own values.
type Warp struct {
	_ [0]func()
	b *ir.Builder
}

func (k *Builder) scope() (*ir.Builder, ir.Scope) { return k.b, ir.ScopeBlock }
func (s Block) scope() (*ir.Builder, ir.Scope)    { return s.b, ir.ScopeBlock }
func (s Warp) scope() (*ir.Builder, ir.Scope)     { return s.b, ir.ScopeWarp }

// warpSize is the number of threads of a warp.
const warpSize = 32

// Block is the kernel's block scope.
func (k *Builder) Block() Block { return Block{b: k.b} }

// Warp is the kernel's warp scope.
func (k *Builder) Warp() Warp { return Warp{b: k.b} }

// Threads is the number of threads of a block.
func (k *Builder) Threads() int { return k.b.Kernel.Threads }

// Warps is the number of warps of a block.
func (k *Builder) Warps() int { return k.b.Kernel.Threads / warpSize }

// BlockID is the block's number in the grid, i32.
func (k *Builder) BlockID() Index { return Index{b: k.b, v: k.b.Position(ir.BlockID)} }

// NumBlocks is the number of blocks in the grid, i32.
func (k *Builder) NumBlocks() Index { return Index{b: k.b, v: k.b.Position(ir.NumBlocks)} }

// Index is the warp's number in its block, i32; it differs among the warps of a block.
func (s Warp) Index() Index { return Index{b: s.b, v: s.b.Position(ir.WarpID)} }

// Sync is a barrier of the block, for communication that the planner cannot see (inline PTX). Shared tiles need none.
func (s Block) Sync() { s.b.Sync() }
