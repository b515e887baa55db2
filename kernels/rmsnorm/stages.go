package rmsnorm

import (
	"slices"

	"github.com/gotile/gotile/internal/target"
)

// Which rows are staged, and how.

// split is how a block holds its chunks of a row: so many in shared memory, and in registers.
type split struct{ shared, regs int }

// staging is how a pass holds rows past what fits registers alone.
type staging struct {
	bytes        int   // of a chunk, a thread
	threads      int   // of a block that is a cluster's, or alone takes a multiprocessor
	half, alone  split // of single blocks of half as many threads, and of as many, on any target; none: there is none
	large, small split // of clusters of blocks, on targets with much and with little shared memory
	loop         bool  // forward
	shares       []share
}

// share is a cluster of small blocks, several to a multiprocessor: one loads and stores while another reduces. They serve
// targets with much shared memory in the place of larger blocks.
type share struct {
	cluster, threads, resident int
	split
}

// row is the longest row that a share holds, in bytes.
func (s staging) row(h share) int { return s.bytes * h.threads * (h.shared + h.regs) * h.cluster }

// A chunk of 1024 threads is 32 KB forward, so 160 KB of a row are in shared memory or, where there is little, 64 KB.
// With a second input more of a row is there, as that takes registers, and with a gate a chunk is smaller. A backward
// pass holds x, dy and w there, of each 64 KB or 32; in registers is its share of dw, so a block has 512 threads with up
// to 128 of them. With a gate it holds x, z and dy, 32 KB of each: more of dw leaves no registers for the slopes.
var (
	stagingForward = staging{bytes: 32, threads: 1024, alone: split{2, 2},
		large: split{5, 3}, small: split{2, 2}, loop: true}
	stagingForwardAdd = staging{bytes: 32, threads: 1024, half: split{2, 2}, alone: split{2, 2},
		large: split{7, 1}, small: split{2, 2}, loop: true,
		shares: []share{{4, 512, 2, split{2, 2}}, {8, 512, 2, split{2, 2}}}} // measured: f32 to 3 % faster, 16-bit types as fast
	stagingGatedForward = staging{bytes: 16, threads: 1024, half: split{6, 2}, alone: split{6, 2},
		large: split{14, 2}, small: split{6, 2},
		shares: []share{{4, 256, 6, split{8, 0}}, {8, 256, 6, split{8, 0}}, {8, 512, 3, split{8, 0}}}} // measured: to 1.4 times as fast
	stagingBackward      = staging{bytes: 32, threads: 512, large: split{4, 0}, small: split{2, 0}}
	stagingGatedBackward = staging{bytes: 16, threads: 512, alone: split{4, 0}, large: split{4, 0}, small: split{4, 0}}
)

// much is the shared memory of a block, in bytes, from which a target counts as having much of it.
const much = 192 << 10

// clusters lists the targets whose blocks form clusters, and have much shared memory or not.
func clusters(roomy bool) []string {
	return target.Select(func(t *target.Target) bool { return t.Cluster > 1 && (t.Shared >= much) == roomy })
}

// widest is the longest row that is staged.
const widest = 262144

// configs are the configs of one pass, ascending for each target; of two for one length the first that a target takes
// is used. Where w is wider than x it takes too much, and the kernels of wide rows serve.
func (s staging) configs(name string, act Activation) []Config {
	var out []Config
	roomy := clusters(true)
	for _, t := range pairs {
		if t.w.Size() > t.x.Size() {
			continue
		}
		shared := 0 // longest row of shares
		add := func(threads, resident, cluster int, held split, targets []string) {
			if held == (split{}) {
				return
			}
			c := Config{Name: name, Act: act, X: t.x, W: t.w, Whole: true, Loop: s.loop,
				Per: s.bytes / t.x.Size(), Min: threads, Resident: resident,
				Shared: held.shared, Regs: held.regs, Cluster: cluster, Targets: targets}
			c.Cap = c.chunk() * c.chunks() * cluster
			if c.Cap <= widest && (c.Cap > shared || !slices.Equal(targets, roomy)) {
				out = append(out, c)
			}
		}
		add(s.threads/2, 2, 1, s.half, nil) // another block loads while this one waits for its row
		var others []string                 // all
		if len(s.shares) > 0 && s.row(s.shares[0]) <= s.row(share{1, s.threads, 0, s.alone}) {
			others = target.Select(func(t *target.Target) bool { return !slices.Contains(roomy, t.Name) })
		}
		add(s.threads, 0, 1, s.alone, others)
		for _, h := range s.shares {
			add(h.threads, h.resident, h.cluster, h.split, roomy)
			shared = s.row(h) / t.x.Size()
		}
		if s.large != s.alone {
			add(s.threads, 0, 1, s.large, roomy)
		}
		for _, cluster := range []int{2, 4, 8} {
			if s.large == s.small {
				add(s.threads, 0, cluster, s.large, slices.Concat(roomy, clusters(false)))
				continue
			}
			add(s.threads, 0, cluster, s.large, roomy)
			add(s.threads, 0, cluster, s.small, clusters(false))
		}
	}
	return out
}

// rings are the configs of rows that pass through a ring: a block has 16 KB of a row, or 32 of longer ones, or 64 where
// registers hold that much of w and dw.
func rings(name string, act Activation) []Config {
	inputs := 3
	if name == "rmsnorm_bwd" {
		inputs = 2
	}
	var out []Config
	for _, t := range pairs {
		if t.w.Size() > t.x.Size() {
			continue
		}
		add := func(cluster, chunks, stages int) {
			out = append(out, Config{Name: name, Act: act, X: t.x, W: t.w, Whole: true, Ring: true, Stages: stages, Resident: 1,
				Per: 32 / t.x.Size(), Min: 512, Cap: chunks * slotBytes / t.x.Size() * cluster, Cluster: cluster, Targets: clusters(true)})
		}
		const stages = inRing / slotBytes
		for _, cluster := range []int{2, 4, 8} {
			if cluster > 2 || inputs > 2 || t.x.Is16() { // measured: that one is faster in registers, 388 us where a ring takes 396
				add(cluster, 1, stages/inputs)
			}
		}
		if act != 0 {
			add(8, 2, stages/3)
			continue
		}
		add(8, 2, stages/2) // ds is not in the ring
		if name == "rmsnorm_bwd" && !t.x.Is16() {
			add(8, 4, stages/2)
		}
	}
	return out
}
