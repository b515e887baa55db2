package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// A tile with a swizzle begins where the swizzle begins to repeat, whatever lies before it, whether or not buffers share
// bytes; so does the block's shared memory.
func TestSharedAlignment(t *testing.T) {
	for _, c := range []struct {
		swizzle layout.Swizzle
		align   int
	}{{layout.Swizzle32, 256}, {layout.Swizzle64, 512}, {layout.Swizzle128, 1024}} {
		k := define(t, "swizzled_tile", func(k *tile.Builder, a rowArgs) {
			block := k.Block()
			small := tile.NewShared[tile.F32](k, 5)
			tile.Store(k, small.At(0), a.Eps)
			s := tile.NewShared[tile.BF16](k, 8, 64).Swizzle(c.swizzle)
			tile.Store(k, s, tile.Load(k, a.X, block.Striped2(8, 64, 1, 32)))
			tile.Store(k, a.Y, tile.Cast[tile.F32](tile.Load(k, s, block.Striped2(8, 64, 2, 32))))
			tile.Store(k, a.S, tile.LoadScalar(k, small.At(0)))
		}, tile.Threads(128))
		low := lower(t, k)
		packed, err := plan.LowerSharing(low.IR, sm90a(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, low := range []*thr.Kernel{low, packed} {
			i := slices.IndexFunc(low.Shared, func(b *thr.SharedBuf) bool { return strings.Contains(b.Note, "swizzle") })
			if b := low.Shared[i]; b.Align != c.align || b.Offset%c.align != 0 {
				t.Errorf("%v: at %d, aligned to %d; want %d", c.swizzle, b.Offset, b.Align, c.align)
			}
			text, err := cuda.Print(low, cuda.Options{})
			if want := fmt.Sprintf("extern __shared__ __align__(%d) char smem[];", c.align); err != nil || !strings.Contains(text, want) {
				t.Errorf("%v: no %s: %v", c.swizzle, want, err)
			}
		}
	}
}

// twoOf is a kernel of two tiles of so many elements, one needed after the other.
func twoOf(t *testing.T, n, threads int, opts ...tile.Option) *tile.Kernel {
	return define(t, "two", func(k *tile.Builder, a intArgs) {
		block := k.Block()
		thin, wide := block.Striped(n, 1), block.Striped(n, 4)
		for row := range 2 {
			s := tile.NewShared[tile.I32](k, n)
			tile.Store(k, s, tile.Load(k, a.X.At(row), thin))
			tile.Store(k, a.Y.At(row), tile.Load(k, s, wide))
			block.Sync()
		}
	}, append(opts, tile.Threads(threads))...)
}

// Buffers share bytes only where a multiprocessor of a target that the kernel claims holds more blocks for it, or one at
// all; then they do on all its targets.
func TestSharingIsForMoreBlocks(t *testing.T) {
	big := tile.Targets("sm_90a", "sm_100a")
	for _, c := range []struct {
		name     string
		elems    int
		threads  int
		opts     []tile.Option
		target   string
		together bool
	}{
		{"threads bound the blocks", 1024, 1024, nil, "sm_90a", false},
		{"more blocks", 4096, 256, nil, "sm_90a", true},                                // 8 of 228 KB instead of 6
		{"more blocks on sm_80", 12288, 1024, nil, "sm_80", true},                      // 2 of 164 KB instead of 1
		{"the same where it gains nothing", 12288, 1024, nil, "sm_90a", true},          // one text
		{"no more blocks", 12288, 1024, []tile.Option{big}, "sm_90a", false},           // 2 of 228 KB either way
		{"one block where there was none", 16384, 1024, nil, "sm_86", true},            // of 99 KB
		{"two blocks instead of one", 16384, 1024, []tile.Option{big}, "sm_90a", true}, // of 228 KB
		{"one block either way", 29000, 1024, []tile.Option{big}, "sm_90a", false},     // of 227 KB
	} {
		low, err := twoOf(t, c.elems, c.threads, c.opts...).Lower(c.target)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := low.Shared[0].Overlaps(low.Shared[1]); got != c.together {
			t.Errorf("%s: share bytes: %v, want %v; %d bytes", c.name, got, c.together, low.SharedBytes)
		}
	}
}

// The heading of the .cu says where a buffer lies, when it lives, and which others have its bytes.
func TestSharedTable(t *testing.T) {
	low, err := twoOf(t, 4096, 256).Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	text, err := cuda.Print(low, cuda.Options{})
	want := `// Shared memory, in bytes; lives: in which stretches between barriers of the block, counted from 0:
//   offset     size  align  lives  type   buffer
//        0    16384     16  0-1    i32    s0: tile [4096]; shares bytes with s1
//        0    16384     16  2-3    i32    s1: tile [4096]; shares bytes with s0
`
	if err != nil || !strings.Contains(text, want) {
		t.Errorf("%v; no\n%s\nin\n%s", err, want, text)
	}
}
