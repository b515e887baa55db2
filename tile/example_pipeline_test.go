package tile_test

import "github.com/gotile/gotile/tile"

// addSlot is a chunk of a row and what is added to it.
type addSlot struct {
	tile.Slot
	X, Y tile.Shared[tile.F32]
}

type addArgs struct {
	X, Y, Z tile.Global[tile.F32] `tile:"rows,n"`
}

// A producer warp fills the slots of a pipeline, two consumer warpgroups add what is in them, a half of a row each. No
// barrier, parity or number of bytes is written: the last copy hands a slot over, Release gives it back.
func ExamplePipeline() {
	show(tile.Define("add", func(k *tile.Builder, a addArgs) {
		pipe := tile.NewPipeline(k, 4, addSlot{X: tile.NewShared[tile.F32](k, 1024), Y: tile.NewShared[tile.F32](k, 1024)})
		work := k.Schedule(tile.Linear(a.X.Dim(0), 1))
		k.Roles(tile.Producer(24, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.X, a.X.At(t.Row))
				tile.CopyAsync(s, s.Y, a.Y.At(t.Row))
			}
		}), tile.Consumers(2, 240, func(c tile.Warpgroup) {
			half, mine := c.Striped(512, 4), c.Index().Scale(512)
			for t := range work.Tiles(c) {
				s := pipe.Wait(c)
				sum := tile.Load(c, s.X.At(mine), half).Add(tile.Load(c, s.Y.At(mine), half))
				s.Release(c)
				tile.Store(c, a.Z.At(t.Row, mine), sum)
			}
		}))
	}, tile.Threads(384)))
	// Output:
	// kernel add(x f32[rows,n] r, y f32[rows,n] r, z f32[rows,n] w) threads 384
	//   shared pipe_x f32[4 1024] manual
	//   shared pipe_y f32[4 1024] manual
	//   work rows
	//   pipeline pipe of 4: pipe_x pipe_y
	//   #0 = warp [1024] thread (32:4@0) value (4:1@0,8:128@0)
	//   #1 = group [512] thread (128:4@0) value (4:1@0)
	//   pipe_init pipe
	//   roles producer warps 1 of 1 at warp from 0 {
	//     set_max_regs 24 warp
	//     %3 = block_id : i32
	//     %4 = num_blocks : i32
	//     range %3, rows, %4 warp { %6
	//       %7 = slot_acquire pipe : i32 warp
	//       copy_async pipe_x[%7, 0] from x[%6, 0] : #0{n}
	//       copy_async pipe_y[%7, 0] from y[%6, 0] : #0{n}
	//     }
	//   } consumers warps 8 of 2 at group from 4 {
	//     set_max_regs 240
	//     %11 = group_id : i32
	//     %12 = mul %11, 512 : i32
	//     %13 = block_id : i32
	//     %14 = num_blocks : i32
	//     range %13, rows, %14 { %16
	//       %17 = slot_wait pipe : i32
	//       %18 = load pipe_x[%17, %12] : f32 #1
	//       %19 = load pipe_y[%17, %12] : f32 #1
	//       %20 = add %18, %19 : f32 #1
	//       slot_release pipe %17
	//       %22 = sub n, %12 : i32
	//       store %20 z[%16, %12] : #1{%22}
	//     }
	//   }
}

// Roles without budgets take no more warps than they use. Here four warps sum rows, each for itself; the slots of the last
// pieces of a list of segments are filled up with zeros.
func ExampleConsumerWarps() {
	type rows struct {
		tile.Slot
		X tile.Shared[tile.F32]
	}
	type args struct {
		X    tile.Global[tile.F32] `tile:"rows,128"`
		Sums tile.Global[tile.F32] `tile:"items,4"`
		List tile.Global[tile.I32] `tile:"items,2"` // a segment's first row, and how many it has, up to 4
	}
	show(tile.Define("segments", func(k *tile.Builder, a args) {
		pipe := tile.NewPipeline(k, 2, rows{X: tile.NewShared[tile.F32](k, 4, 128)})
		work := k.Schedule(tile.WorkList(a.List))
		k.Roles(tile.ConsumerWarps(4, 0, func(c tile.Warp) {
			for t := range work.Tiles(c) {
				s := pipe.Wait(c)
				x := tile.Load(c, s.X.At(c.Index()), c.Striped(128, 4))
				s.Release(c)
				tile.Store(c, a.Sums.At(t.Item, c.Index()), x.Sum())
			}
		}), tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.X, a.X.At(t.Row), tile.Valid(t.Fields[1]))
			}
		}))
	}, tile.Threads(160)))
	// Output:
	// kernel segments(x f32[rows,128] r, sums f32[items,4] w, list i32[items,2] r) threads 160
	//   shared pipe_x f32[2 4 128] manual
	//   work items
	//   pipeline pipe of 2: pipe_x
	//   #0 = warp [128] thread (32:4@0) value (4:1@0)
	//   #1 = warp [4,128] thread (32:4@1,1:1@0) value (4:1@1,4:1@0)
	//   pipe_init pipe
	//   roles consumer warps warps 4 of 4 at warp from 0 {
	//     %2 = block_id : i32
	//     %3 = num_blocks : i32
	//     range %2, items, %3 warp { %5
	//       %6 = load list[%5, 0] : i32 warp
	//       %7 = load list[%5, 1] : i32 warp
	//       %8 = slot_wait pipe : i32 warp
	//       %9 = warp_id : i32 warp
	//       %10 = load pipe_x[%8, %9, 0] : f32 #0
	//       slot_release pipe %8 warp
	//       %12 = warp_id : i32 warp
	//       %13 = sum %10 axes [0] : f32 warp
	//       store %13 sums[%5, %12] warp
	//     }
	//   } producer warps 1 of 1 at warp from 4 {
	//     %15 = block_id : i32
	//     %16 = num_blocks : i32
	//     range %15, items, %16 warp { %18
	//       %19 = load list[%18, 0] : i32 warp
	//       %20 = load list[%18, 1] : i32 warp
	//       %21 = slot_acquire pipe : i32 warp
	//       %22 = sub rows, %19 : i32 warp
	//       %23 = min %20, %22 : i32 warp
	//       copy_async pipe_x[%21, 0, 0] from x[%19, 0] : #1{%23, _}
	//     }
	//   }
}

// A consumer keeps the slot before the one it reads, in a variable: two slots held, of three.
func ExampleSlotVar() {
	type chunk struct {
		tile.Slot
		X tile.Shared[tile.F32]
	}
	show(tile.Define("differences", func(k *tile.Builder, a addArgs) {
		pipe := tile.NewPipeline(k, 3, chunk{X: tile.NewShared[tile.F32](k, 256)})
		work := k.Schedule(tile.SuperRows(a.Z, 8, 256, 4))
		k.Roles(tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				for row := range tile.Range(p, 0, 9, 1) {
					s := pipe.Acquire(p)
					tile.CopyAsync(s, s.X, a.X.At(t.Row.Add(row), t.Col), tile.Pieces(16))
				}
			}
		}), tile.ConsumerGroup(64, 0, func(c tile.Group) {
			span := c.Striped(256, 4)
			for t := range work.Tiles(c) {
				last := pipe.NewVar(c, pipe.Wait(c))
				for row := range tile.Range(c, 0, 8, 1) {
					next, before := pipe.Wait(c), last.Get()
					tile.Store(c, a.Z.At(t.Row.Add(row), t.Col), tile.Load(c, next.X, span).Sub(tile.Load(c, before.X, span)))
					before.Release(c)
					last.Set(next)
				}
				last.Get().Release(c)
			}
		}))
	}, tile.Threads(96)))
	// Output:
	// kernel differences(x f32[rows,n] r, y f32[rows,n], z f32[rows,n] w) threads 96
	//   shared pipe_x f32[3 256] manual
	//   work %5
	//   pipeline pipe of 3: pipe_x
	//   #0 = warp [256] thread (32:4@0) value (4:1@0,2:128@0)
	//   #1 = group [256] thread (64:4@0) value (4:1@0)
	//   pipe_init pipe
	//   %1 = add rows, 7 : i32
	//   %2 = div %1, 8 : i32
	//   %3 = add n, 255 : i32
	//   %4 = div %3, 256 : i32
	//   %5 = mul %2, %4 : i32
	//   roles producer warps 1 of 1 at warp from 0 {
	//     %7 = block_id : i32
	//     %8 = num_blocks : i32
	//     range %7, %5, %8 warp { %10
	//       %11 = add rows, 7 : i32
	//       %12 = div %11, 8 : i32
	//       %13 = add n, 255 : i32
	//       %14 = div %13, 256 : i32
	//       %15 = mul %14, 4 : i32
	//       %16 = div %10, %15 : i32 warp
	//       %17 = mul %16, 4 : i32 warp
	//       %18 = sub %12, %17 : i32 warp
	//       %19 = min %18, 4 : i32 warp
	//       %20 = rem %10, %15 : i32 warp
	//       %21 = rem %20, %19 : i32 warp
	//       %22 = add %17, %21 : i32 warp
	//       %23 = mul %22, 8 : i32 warp
	//       %24 = div %20, %19 : i32 warp
	//       %25 = mul %24, 256 : i32 warp
	//       range 0, 9, 1 warp { %27
	//         %28 = slot_acquire pipe : i32 warp
	//         %29 = add %23, %27 : i32 warp
	//         %30 = sub n, %25 : i32 warp
	//         copy_async pipe_x[%28, 0] from x[%29, %25] : #0{%30}
	//       }
	//     }
	//   } consumer group warps 2 of 1 at group from 1 {
	//     %32 = block_id : i32
	//     %33 = num_blocks : i32
	//     range %32, %5, %33 { %35
	//       %36 = add rows, 7 : i32
	//       %37 = div %36, 8 : i32
	//       %38 = add n, 255 : i32
	//       %39 = div %38, 256 : i32
	//       %40 = mul %39, 4 : i32
	//       %41 = div %35, %40 : i32
	//       %42 = mul %41, 4 : i32
	//       %43 = sub %37, %42 : i32
	//       %44 = min %43, 4 : i32
	//       %45 = rem %35, %40 : i32
	//       %46 = rem %45, %44 : i32
	//       %47 = add %42, %46 : i32
	//       %48 = mul %47, 8 : i32
	//       %49 = div %45, %44 : i32
	//       %50 = mul %49, 256 : i32
	//       %51 = slot_wait pipe : i32
	//       %52 = var %51 : i32
	//       range 0, 8, 1 { %54
	//         %55 = slot_wait pipe : i32
	//         %56 = get %52 : i32
	//         %57 = add %48, %54 : i32
	//         %58 = load pipe_x[%55, 0] : f32 #1
	//         %59 = load pipe_x[%56, 0] : f32 #1
	//         %60 = sub %58, %59 : f32 #1
	//         %61 = sub n, %50 : i32
	//         store %60 z[%57, %50] : #1{%61}
	//         slot_release pipe %56
	//         set %52, %55
	//       }
	//       %65 = get %52 : i32
	//       slot_release pipe %65
	//     }
	//   }
}
