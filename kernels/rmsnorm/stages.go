package rmsnorm

import "github.com/gotile/gotile/internal/target"

// Which rows are staged, and how.

// split is how a block holds its chunks of a row: so many in shared memory, and in registers.
type split struct{ shared, regs int }

// staging is how a pass holds rows past what fits registers alone.
type staging struct {
	bytes        int   // of a chunk, a thread
	alone        split // of single blocks of 512 and 1024 threads, on any target; none: there are no such kernels
	large, small split // of clusters of 1024 threads a block, on targets with much and with little shared memory
}

// A forward chunk of 1024 threads is 32 KB, so 160 KB of a row are in shared memory or, where there is little, 64 KB. A
// backward pass holds x, dy and w there, of each 64 or 32 KB, and its share of dw in registers.
var (
	stagingForward    = staging{bytes: 32, alone: split{2, 2}, large: split{5, 3}, small: split{2, 2}}
	stagingForwardAdd = staging{bytes: 32, alone: split{2, 2}, large: split{6, 2}, small: split{2, 2}}
	stagingBackward   = staging{bytes: 16, large: split{4, 0}, small: split{2, 0}}
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
func (s staging) configs(name string) []Config {
	var out []Config
	for _, t := range pairs {
		if t.w.Size() > t.x.Size() {
			continue
		}
		add := func(threads, resident, cluster int, held split, targets []string) {
			c := Config{Name: name, X: t.x, W: t.w, Whole: true, Per: s.bytes / t.x.Size(), Min: threads, Resident: resident,
				Shared: held.shared, Regs: held.regs, Cluster: cluster, Targets: targets}
			c.Cap = c.chunk() * c.chunks() * cluster
			if c.Cap <= widest {
				out = append(out, c)
			}
		}
		if s.alone != (split{}) {
			add(512, 2, 1, s.alone, nil) // another block loads while this one waits for its row
			add(1024, 0, 1, s.alone, nil)
		}
		for _, cluster := range []int{1, 2, 4, 8} {
			add(1024, 0, cluster, s.large, clusters(true))
			if cluster > 1 {
				add(1024, 0, cluster, s.small, clusters(false))
			}
		}
	}
	return out
}
