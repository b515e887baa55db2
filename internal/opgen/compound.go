package main

import (
	"bytes"
	"fmt"
	"strings"
)

// A compound is a group of names of package tile that are no row of the op table: they record several ops, fewer than
// their name says, or none.
type compound struct {
	names []string // Type.Method, or a name of the package
	ops   string   // what they record
	doc   string
}

// compounds are in the order of the documentation. TestCompounds demands that they and the op table name all that
// package tile exports for use in a kernel.
var compounds = []compound{
	{[]string{"Expand", "Full"}, "broadcast", "`Expand(v, like, axis)` repeats v, which lacks an axis of the span like, along it; `Full(scope, span, x)` repeats one value over a tile"},
	{[]string{"LoadScalar"}, "load", "one element, which each thread of the scope gets"},
	{[]string{"Const"}, "none", "`Const[T](x)` is a number as an operand where T is a type parameter; elsewhere a host value is one: `F32(2)`"},
	{[]string{"Scalar.Reg", "Scalar.Operand", "Reg.Operand"}, "none", "a scalar argument as a tile of rank 0; `Operand` only marks what an op takes"},
	{[]string{"AsIndex"}, "none", "an i32 of rank 0, such as a row number read from data, as an `Index`"},
	{[]string{"Index.Int"}, "none", "an `Index` as an i32 of rank 0"},
	{[]string{"Index.Float"}, "cast", "an `Index` as an f32 of rank 0"},
	{[]string{"Index.Add", "Index.Sub", "Index.Mul", "Index.Div", "Index.Rem", "Index.Min", "Index.Max"}, "the op of that name; none where constants fold", "arithmetic of two indices"},
	{[]string{"Index.AddInt", "Index.SubInt", "Index.Scale", "Index.DivInt", "Index.RemInt", "Index.MinInt", "Index.MaxInt"}, "as their twins", "the same with a Go int; `Scale` is the twin of `Mul`"},
	{[]string{"Index.Lt", "Index.Le", "Index.Gt", "Index.Ge", "Index.Eq", "Index.Ne"}, "the op of that name", "comparisons of two indices, a bool of rank 0"},
	{[]string{"Index.LtInt", "Index.LeInt", "Index.GtInt", "Index.GeInt", "Index.EqInt", "Index.NeInt"}, "as their twins", "the same with a Go int"},
	{[]string{"Global.At", "Global.Row", "Shared.At"}, "none", "a view from an element on, for a load or a store; `Row(i)` is `At(i)`"},
	{[]string{"Global.Rank", "Reg.Rank", "Span.Rank", "Span.Shape", "Builder.Threads", "Builder.Warps", "Cluster.Size"}, "none", "Go values, known while the kernel is built"},
	{[]string{"Streaming", "ReadOnly", "L2Only", "EvictFirst", "EvictLast"}, "an attribute of load and store", "cache hints: .cs, the read-only path, not in L1, first and last to leave L1 and L2; of global memory, one an access"},
	{[]string{"Acquire", "Release", "AcqRel"}, "an attribute of load, store and atomics", "orders among blocks, at gpu scope: of atomics of one value, Acquire of `LoadScalar`, Release of a `Store` of one value"},
	{[]string{"Builder.Block", "Builder.Warp", "Builder.Cluster"}, "none", "scopes: who executes an op together"},
	{[]string{"Block.Striped", "Block.Striped2", "Warp.Striped", "Warp.Striped2", "Cluster.Striped", "Cluster.Striped2"}, "none", "spans: how a tile lies in registers"},
	{[]string{"Span.Clip", "Span.Axis", "Reg.Span"}, "none", "a span with run-time extents; the span of a row or a column; the span of a tile"},
	{[]string{"Index.AtMost"}, "none", "a launch refuses a dimension that is larger"},
	{[]string{"Coord"}, "coord", "`Coord(span, axis)` is a tile of its own elements' coordinates; it takes a span, not a tile"},
	{[]string{"Map"}, "coord, and what its function records", "`Map(x, f)`: f of the rows, the columns and the values of a 2-D tile"},
	{[]string{"Mask", "Causal", "CausalStrict"}, "select; coord, a comparison", "x where a condition holds, on and below a diagonal, below it; another value elsewhere"},
	{[]string{"Exclusive", "Reverse"}, "attributes of scans", "without the element itself; from the end of the axis"},
	{[]string{"ScaleRows", "ScaleCols"}, "get, broadcast, mul, set", "rows or columns of an accumulator times a vector, in place"},
	{[]string{"Decayed", "DecayDot"}, "loads, exp2, mul, sum, a variable", "`DecayDot(warp, a, b, depth, span)`: products of the rows of two matrices, of each column with a decay of its own"},
	{[]string{"InverseUnitLowerBlocks"}, "inverse_unit_lower, loads, stores", "the same of 32x32, 48x48 and 64x64 in shared memory, by blocks of 16"},
	{[]string{"LoadShifted"}, "load", "the rows that lie so many before those of a view, zero outside the buffer"},
	{[]string{"Reg.Fill"}, "fill; none where no extent is there", "elements past the extents take a value"},
	{[]string{"NewVar"}, "var", "`NewVar(scope, x)` declares a variable; a tile variable has the span and the extents of x"},
	{[]string{"NewShared"}, "none", "`NewShared[T](k, sizes...)` is a tile in shared memory; it ends with the loop body or the branch that it is made in"},
	{[]string{"Shared.Manual"}, "none", "the tile is its author's to order, by mbarriers, bulk groups or `Sync`; the planner places no barriers for it"},
	{[]string{"Shared.Swizzle"}, "none", "the tile has one of the swizzles of tensor copies, for all its accesses; one wider than the swizzle is stored as panels"},
	{[]string{"ReduceAdd", "ReduceMin", "ReduceMax"}, "an attribute of reduce_tensor", "what `ReduceTensor` does with the elements of a tile and of a tensor"},
	{[]string{"MBarriers.At"}, "none", "one of an array of mbarriers"},
	{[]string{"MBarrier.ArriveCount", "MBarrier.ArriveOnce"}, "mbar_arrive", "each thread arrives for n arrivals; one thread for its whole scope, which meets first"},
	{[]string{"MBarrier.ArriveAndWait"}, "mbar_arrive, mbar_wait", "each thread arrives and waits for the phase"},
	{[]string{"MBarrier.Peer"}, "none", "the same mbarrier in another block of the cluster"},
	{[]string{"PeerMBarrier.ArriveOnce", "PeerMBarrier.ArriveRelaxed"}, "mbar_arrive_at", "one thread arrives for its whole scope, which meets first; each thread arrives, and releases what a `FenceCluster` has ordered before"},
	{[]string{"Pieces"}, "an attribute of copy_async", "how many bytes a thread copies at once"},
	{[]string{"Warp.Sync"}, "barrier", "the lanes of a warp meet, for tiles with `Manual`"},
	{[]string{"Valid"}, "an attribute of copy_async", "where a copy ends before its source does"},
	{[]string{"Builder.Schedule", "Linear", "SuperRows", "WorkList"}, "none", "work that the blocks of the grid share"},
	{[]string{"LCSF.Record"}, "none", "records a kernel in the load-compute-store-finish form: roles, two pipelines and their loops"},
	{[]string{"Work.Tiles"}, "none", "the loop of a role over the pieces of work of its block"},
	{[]string{"Consumers", "ConsumerGroup", "ConsumerWarps"}, "none", "roles of warpgroups, of threads that work together, and of warps; Producer is one of a warp"},
	{[]string{"Group.Threads", "Warpgroup.Threads", "Group.Warp", "Warpgroup.Warp", "Warpgroup.Index"}, "none", "what a group has"},
	{[]string{"Group.Striped", "Group.Striped2", "Warpgroup.Striped", "Warpgroup.Striped2"}, "none", "spans over the threads of a group"},
	{[]string{"Warp.Fragment", "Warpgroup.Fragment", "Span.Transpose"}, "none", "spans of operands and accumulators of tensor cores, and the transpose of a span in the same registers"},
	{[]string{"AB", "ABt", "AtB", "AtBt", "Overwrite", "MMASync", "TF32", "TF32x3", "TF32Cut"}, "attributes of mma", "options of `MMA`: which operands are given transposed, to set the accumulator instead of adding, to use mma.sync where a warpgroup has wgmma, and how exactly to multiply f32"},
	{[]string{"View.Matrix", "Shared.Rows"}, "none", "a part of a shared tile as an operand of `MMA`"},
	{[]string{"NewAcc"}, "broadcast, var", "`NewAcc[T](scope, rows, cols)` is an accumulator: a variable of zeros with a fragment"},
	{[]string{"Group.Sync", "Warpgroup.Sync"}, "none", "`barrier` of a group"},
	{[]string{"Pipeline.NewVar", "SlotVar.Get", "SlotVar.Set"}, "none", "`var`, `get` and `set` of a slot"},
	{[]string{"Shared.Release"}, "none", "`slot_release` of one tile of a slot"},
	{[]string{"NewNamedBarrier"}, "none", "one of the block's 15 named barriers, for so many threads"},
	{[]string{"Peer"}, "an attribute of load and store", "`Peer(tile, rank)` is a shared tile, or a view of one, in another block of the cluster"},
	{[]string{"PTX"}, "asm", "`PTX[T](template, sim, operands...)`: %0 in the template is the result, %1 the first operand; sim computes the same on bits"},
	{[]string{"Columns"}, "range", "`Columns(scope, n, span)` is a loop over a row in chunks of the span's capacity"},
	{[]string{"Step", "Blocks", "OneBlockEach", "Looped"}, "attributes of persistent", "options of `Persistent`"},
}

// writeCompounds is the section on them.
func writeCompounds(b *bytes.Buffer) {
	b.WriteString("\n## Other functions and methods\n\nWhat is no row above: it records several ops, an op under another name, or none.\n\n| Go | Records | Meaning |\n|---|---|---|\n")
	for _, c := range compounds {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", strings.Join(c.names, "`, `"), c.ops, c.doc)
	}
}
