package tile_test

import "github.com/gotile/gotile/tile"

type doubleArgs struct {
	X, Y tile.Global[tile.F32] `tile:"rows,n"`
	Sums tile.Global[tile.F32] `tile:"rows"`
}

// chunkSlot is a chunk of a row.
type chunkSlot struct {
	tile.Slot
	X tile.Shared[tile.F32]
}

// Rows are doubled chunk by chunk, and summed: what is loaded, computed, stored and finished, and nothing else.
func ExampleLCSF() {
	const chunk = 512
	show(tile.Define("twice", func(k *tile.Builder, a doubleArgs) {
		slot := func() chunkSlot { return chunkSlot{X: tile.NewShared[tile.F32](k, chunk)} }
		tile.LCSF[chunkSlot, chunkSlot]{
			Work:   tile.Linear(a.X.Dim(0), 1),
			Chunks: func(tile.Piece) tile.Index { return a.X.Dim(1).AddInt(chunk - 1).DivInt(chunk) },
			Input:  slot(), Stages: 4,
			Output: slot(), OutStages: 2,
			Consumers: 1,
			Load: func(p tile.Warp, in chunkSlot, t tile.Piece, i tile.Index) {
				tile.CopyAsync(in, in.X, a.X.At(t.Row, i.Scale(chunk)))
			},
			Compute: func(c tile.Warpgroup, t tile.Piece) tile.Steps[chunkSlot, chunkSlot] {
				sum := tile.NewVar(c, tile.F32(0))
				return tile.Steps[chunkSlot, chunkSlot]{
					Chunk: func(in, out chunkSlot, _ tile.Index) {
						x := tile.Load(c, in.X, c.Striped(chunk, 4))
						tile.Store(c, out.X, x.Add(x))
						sum.Set(sum.Get().Add(x.Sum()))
					},
					Finish: func() { tile.Store(c, a.Sums.At(t.Row), sum.Get()) },
				}
			},
			Store: func(s tile.Warp, out chunkSlot, t tile.Piece, i tile.Index) {
				tile.StoreBulk(s, a.Y.At(t.Row, i.Scale(chunk)), out.X)
			},
		}.Record(k)
	}, tile.Threads(128+32+32), tile.WholeVectors()))
	// Output:
	// kernel twice(x f32[rows,n] r, y f32[rows,n] w, sums f32[rows] w) threads 192
	//   shared pipe_x f32[4 512] manual
	//   shared pipe2_x f32[2 512] manual
	//   work rows
	//   pipeline pipe of 4: pipe_x
	//   pipeline pipe2 of 2: pipe2_x
	//   #0 = group [512] thread (128:4@0) value (4:1@0)
	//   #1 = warp [512] thread (32:4@0) value (4:1@0,4:128@0)
	//   pipe_init pipe
	//   pipe_init pipe2
	//   roles consumers warps 4 of 1 at group from 0 {
	//     %3 = block_id : i32
	//     %4 = num_blocks : i32
	//     range %3, rows, %4 { %6
	//       %7 = var 0.0 : f32
	//       %8 = add n, 511 : i32
	//       %9 = div %8, 512 : i32
	//       range 0, %9, 1 { %11
	//         %12 = slot_wait pipe : i32
	//         %13 = slot_acquire pipe2 : i32
	//         %14 = load pipe_x[%12, 0] : f32 #0
	//         %15 = add %14, %14 : f32 #0
	//         store %15 pipe2_x[%13, 0] : #0
	//         %17 = get %7 : f32
	//         %18 = sum %14 axes [0] : f32
	//         %19 = add %17, %18 : f32
	//         set %7, %19
	//         slot_release pipe %12
	//       }
	//       %22 = get %7 : f32
	//       store %22 sums[%6]
	//     }
	//   } producer warps 1 of 1 at warp from 4 {
	//     %24 = block_id : i32
	//     %25 = num_blocks : i32
	//     range %24, rows, %25 warp { %27
	//       %28 = add n, 511 : i32
	//       %29 = div %28, 512 : i32
	//       range 0, %29, 1 warp { %31
	//         %32 = slot_acquire pipe : i32 warp
	//         %33 = mul %31, 512 : i32 warp
	//         %34 = sub n, %33 : i32 warp
	//         copy_async pipe_x[%32, 0] from x[%27, %33] : #1{%34}
	//       }
	//     }
	//   } storer warps 1 of 1 at warp from 5 {
	//     %36 = block_id : i32
	//     %37 = num_blocks : i32
	//     range %36, rows, %37 warp { %39
	//       %40 = add n, 511 : i32
	//       %41 = div %40, 512 : i32
	//       range 0, %41, 1 warp { %43
	//         %44 = slot_wait pipe2 : i32 warp
	//         %45 = mul %43, 512 : i32 warp
	//         %46 = sub n, %45 : i32 warp
	//         %47 = min %46, 512 : i32 warp
	//         %48 = max %47, 0 : i32 warp
	//         store_bulk pipe2_x[%44, 0], y[%39, %45], %48 warp
	//         %50 = mul %48, 4 : i32 warp
	//         slot_release pipe2 %44 warp
	//       }
	//     }
	//   }
}
