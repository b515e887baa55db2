package tile

import "github.com/gotile/gotile/internal/ir"

// Scope is who executes an op together: all blocks of a cluster (a Cluster), the block (a Block, or the Builder itself)
// or each warp for itself (a Warp).
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

// Warp is the scope of 32 threads: each warp of the block executes the op for itself, on its own values. The Warp that a
// role is given is each warp of that role, and ends with the role's function.
type Warp struct {
	_    [0]func()
	b    *ir.Builder
	role *ir.Role // nil: of all warps of the block
}

func (k *Builder) scope() (*ir.Builder, ir.Scope) { return k.kernel(), ir.ScopeBlock }
func (s Block) scope() (*ir.Builder, ir.Scope)    { return s.kernel(), ir.ScopeBlock }
func (s Warp) scope() (*ir.Builder, ir.Scope)     { return s.kernel(), ir.ScopeWarp }

// scopeOf is the kernel and the scope that a call names. Without one there is no kernel to go on with: the mistake
// ends the author's function.
func scopeOf(s Scope) (*ir.Builder, ir.Scope) {
	if s == nil {
		ir.Fail(ErrScope, "the scope is nil: give the Builder, its Block() or its Warp()")
	}
	return s.scope()
}

func (k *Builder) kernel() *ir.Builder {
	if k == nil || k.b == nil {
		ir.Fail(ErrScope, "the Builder is nil or its zero value: use the one that Define gives to the function")
	}
	return k.b
}

func (s Block) kernel() *ir.Builder {
	if s.b == nil {
		ir.Fail(ErrScope, "the Block was never assigned: it is the zero value of its type; take the Builder's Block()")
	}
	return s.b
}

func (s Warp) kernel() *ir.Builder {
	if s.b == nil {
		ir.Fail(ErrScope, "the Warp was never assigned: it is the zero value of its type; take the Builder's Warp()")
	}
	s.b.Within(s.role)
	return s.b
}

// warpSize is the number of threads of a warp.
const warpSize = 32

// Block is the kernel's block scope.
func (k *Builder) Block() Block { return Block{b: k.kernel()} }

// Warp is the kernel's warp scope.
func (k *Builder) Warp() Warp { return Warp{b: k.kernel()} }

// Threads is the number of threads of a block.
func (k *Builder) Threads() int { return k.kernel().Kernel.Threads }

// Warps is the number of warps of a block.
func (k *Builder) Warps() int { return k.kernel().Kernel.Threads / warpSize }

// BlockID is the block's number in the grid, i32.
func (k *Builder) BlockID() Index { return position(k.kernel(), ir.BlockID) }

// NumBlocks is the number of blocks in the grid, i32.
func (k *Builder) NumBlocks() Index { return position(k.kernel(), ir.NumBlocks) }

// Index is the warp's number in its block, i32, or, of a role's Warp, in its role; it differs among the warps of a block.
func (s Warp) Index() Index {
	i := position(s.kernel(), ir.WarpID)
	if s.role != nil {
		return i.SubInt(s.role.First)
	}
	return i
}

// Elect is true in one lane of the warp, which the hardware chooses, and false in the others: a tile of 32 elements, one
// a lane.
func (s Warp) Elect() Reg[Bool] { return Reg[Bool]{b: s.kernel(), v: s.b.Elect()} }

// Sync is a barrier of the block, for communication that the planner cannot see (inline PTX). Shared tiles need none.
func (s Block) Sync() { s.kernel().Sync(ir.ScopeBlock) }

// Sync is a barrier of the threads of each warp, for Manual tiles: what the lanes wrote is there for the one that issues
// a bulk store.
func (s Warp) Sync() { s.kernel().Sync(ir.ScopeWarp) }

func position(b *ir.Builder, op ir.Op) Index { return Index{b: b, v: b.Position(op)} }
