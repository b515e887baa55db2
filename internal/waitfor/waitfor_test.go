package waitfor

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// TestWordOf: the words are what mbarrier.init stores, by the code that ptxas makes of it, with a later state of each, and
// what an H200 has shown.
func TestWordOf(t *testing.T) {
	for _, c := range []struct {
		target string
		word   uint64
		want   Word
		bytes  string
	}{
		{"sm_80", 0x7ffffffb_3ffffffb, Word{0, 5, 5, 0}, ""},                    // init for 5
		{"sm_86", 0x7ffffffe_3ffffffb, Word{0, 2, 5, 0}, ""},                    // 3 have come
		{"sm_89", 0xfffffffb_3ffffffb, Word{1, 5, 5, 0}, ""},                    // the next phase
		{"sm_90a", 0xfffffb<<11<<32&(1<<63-1) | 0x1ffff6, Word{0, 5, 5, 0}, ""}, // (2^20-5) << 11 above (2^20-5) << 1
		{"sm_90a", 0x7fffe800001ffff6, Word{0, 3, 5, 0}, ""},                    // measured: init 5, 2 arrivals
		{"sm_90a", 0x7fffebff831ffff6, Word{0, 3, 5, 1000}, "1000 bytes expected that have not come"},
		{"sm_90a", 0x7ffffbfffa1ffff6, Word{0, 1, 5, 48}, "48 bytes expected that have not come"},
		{"sm_90a", 0xfffffbff831ffffe, Word{1, 1, 1, 1000}, "1000 bytes expected that have not come"},
		{"sm_120a", 1<<63 | (1<<20-1)<<43 | (1<<20-2)<<1 | 1<<21, Word{1, 1, 2, -1}, "1 byte copied that nobody expects yet"},
		{"sm_90a-as-120", (1<<20-2)<<1 | (1<<21-5)<<21, Word{0, 0, 2, 5}, "5 bytes expected that have not come"},
	} {
		if got := WordOf(c.target, c.word); got != c.want || got.bytes() != c.bytes {
			t.Errorf("%s: %#x is %+v (%s), want %+v (%s)", c.target, c.word, got, got.bytes(), c.want, c.bytes)
		}
	}
}

// report writes one block's.
func report(b []byte, block int, records ...[4]uint64) {
	for i, v := range []uint32{uint32(block), 1, 0x1000, 0x500} {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	binary.LittleEndian.PutUint64(b[16:], uint64(3*time.Second))
	for i, r := range records {
		at := b[24+24*i:]
		binary.LittleEndian.PutUint32(at, uint32(r[0]))
		binary.LittleEndian.PutUint32(at[4:], uint32(r[1]))
		binary.LittleEndian.PutUint64(at[8:], r[2])
		binary.LittleEndian.PutUint64(at[16:], r[3])
	}
}

// TestDescribe: every sort of row; blocks that stand alike share theirs; a report that is not whole is none.
func TestDescribe(t *testing.T) {
	pos := ir.Here(0)
	copied := ir.Here(0)
	at := pos.String()
	full := &thr.SharedBuf{Name: "full", Offset: 64, Bytes: 24}
	k := &thr.Kernel{Name: "k", Target: "sm_90a", Threads: 320, Body: []thr.Stmt{
		thr.If{Then: []thr.Stmt{thr.While{Body: []thr.Stmt{thr.For{Body: []thr.Stmt{thr.Do{At: thr.At{Pos: pos}, Fn: thr.MBarArrive, Bar: full}}}}}}},
		thr.Do{At: thr.At{Pos: copied}, Fn: thr.BulkLoad, Bar: full}, thr.Do{At: thr.At{Pos: copied}, Fn: thr.TensorLoad, Bar: &thr.SharedBuf{Name: "other"}}}}
	sites := []Site{{Fn: thr.BlockSync, Pos: pos}, {Fn: thr.ClusterWait, Pos: pos}, {Fn: thr.NamedSync, Pos: pos, Threads: 96}, {Fn: thr.RegsInc, Pos: pos, Regs: 232},
		{Pos: pos}, {Fn: thr.MBarWait, Pos: pos, Bar: full}, {Fn: thr.MBarTestToken, Pos: pos, Bar: full}}
	word := uint64(1<<20-1)<<43 | (1<<20-2)<<1 | (1<<21-512)<<21
	host := make([]byte, Reports*ReportBytes)
	every := [][4]uint64{{1, 0x500, 10, 4}, {2, 0, 0, 0}, {3, 0x500 + 8*4, 6, 4}, {4, 0, 0, 0}, {5, 0, 0, 0},
		{6, 0x1000 + 64 + 8, 1, word}, {7, 0x1000 + 64 + 8, 1<<63 | 5, word}, {0, 0, 0, 0}, {Ended, 0, 0, 0}, {99, 0, 0, 0}}
	report(host, 5, every...)
	report(host[ReportBytes:], 2, every...)
	report(host[2*ReportBytes:], 9, [4]uint64{6, 0x1000 + 64 + 16, 0, word})
	report(host[3*ReportBytes:], 7, every...)
	binary.LittleEndian.PutUint32(host[3*ReportBytes+4:], 0) // under way
	reports := Decode(host)
	if len(reports) != 3 || reports[0].Waited != 3*time.Second {
		t.Fatalf("%d reports, %+v", len(reports), reports)
	}
	runs := ""
	for i := 1; i < 10; i++ {
		runs += fmt.Sprintf("\n    warp %d runs", i)
	}
	want := strings.ReplaceAll(`  blocks 2, 5:
    warp 0 waits at the barrier of POS
    warp 1 waits at the barrier of the cluster of POS
    warp 2 waits at POS at named barrier 4: 2 warps of 3 warps have yet to come
    warp 3 waits at POS for 232 registers a thread
    warp 4 asks again and again at POS
    warp 5 waits at POS for the phase of parity 1 of full[1]
      full[1] is in a phase of parity 0: 1 of 2 arrivals pending, 512 bytes expected that have not come
      who arrives does so at POS
      bytes are expected at no line, and copied at COPIED
    warp 6 asks at POS for the phase of parity 1 of full[1]
    warp 7 runs
    warp 8 has left the kernel
    warp 9 runs
  block 9:
    warp 0 waits at POS for the phase of parity 0 of full[2]
      full[2] is in a phase of parity 0: 1 of 2 arrivals pending, 512 bytes expected that have not come
      who arrives does so at POS
      bytes are expected at no line, and copied at COPIED`+runs, "POS", at)
	want = strings.ReplaceAll(want, "COPIED", copied.String())
	if got := Describe(k, sites, reports); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
	clear(host)
	for i := range Reports {
		report(host[i*ReportBytes:], 3*i, [4]uint64{1})
	}
	got := Describe(k, sites, Decode(host))
	if !strings.HasPrefix(got, "  blocks 0, 3, 6, 9 and 60 more:\n    warp 0 waits at the barrier of ") || !strings.HasSuffix(got, "room for 64 reports") {
		t.Errorf("of %d blocks:\n%s", Reports, got)
	}
}

// TestWarpName: warps go by the role that they have; those that fill up a warpgroup have none.
func TestWarpName(t *testing.T) {
	list := ir.RoleList{{Name: "producer", First: 0, Warps: 1, Parts: 1}, {Name: "consumers", First: 4, Warps: 4, Parts: 2}}
	k := &thr.Kernel{IR: &ir.Kernel{Body: &ir.Region{Ops: []*ir.Value{{Op: ir.Roles, Attr: list}}}}}
	for warp, want := range map[int]string{0: "warp 0 (producer)", 1: "warp 1", 4: "warp 4 (consumers)", 11: "warp 11 (consumers)", 12: "warp 12"} {
		if got := WarpName(k, warp); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
