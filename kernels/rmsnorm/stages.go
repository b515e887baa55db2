package rmsnorm

// Which rows are staged, and how.

// roomy are the targets whose blocks have 192 KB of shared memory and whose blocks form clusters; small are the others that
// have clusters, with 99 KB a block.
var (
	roomy = []string{"sm_90a", "sm_100a", "sm_103a"}
	small = []string{"sm_120a", "sm_121a"}
)

// stages are the configs of staged forward passes for rows past what fits registers, ascending; of two for one length
// the first that a target takes is used. A thread has 32 bytes of a chunk.
func stages(name string, add bool) []Config {
	var out []Config
	held := 3 // chunks in registers, of eight
	if add {
		held = 2
	}
	for _, t := range pairs {
		c := Config{Name: name, X: t.x, W: t.w, Whole: true, Per: 32 / t.x.Size()}
		if c.W.Size() > c.X.Size() {
			continue // w takes too much: the kernels of wide rows serve
		}
		row := 64 << 10 / c.X.Size() // elements of 64 KB
		c.Min, c.Resident = 512, 2   // another block loads while this one waits for its row
		out = append(out, c.stage(row, 2, 2, 1))
		c.Min, c.Resident = 1024, 0
		out = append(out, c.stage(2*row, 2, 2, 1))
		for _, cluster := range []int{1, 2, 4, 8} {
			if n := 4 * row * cluster; n <= widest {
				out = append(out, c.stage(n, 8-held, held, cluster, roomy...))
			}
			if n := 2 * row * cluster; cluster > 1 && n <= widest {
				out = append(out, c.stage(n, 2, 2, cluster, small...))
			}
		}
	}
	return out
}

// widest is the longest row that is staged.
const widest = 262144

// stage is the config for rows of n elements, with so many chunks in shared memory and in registers.
func (c Config) stage(n, shared, regs, cluster int, targets ...string) Config {
	c.Cap, c.Shared, c.Regs, c.Cluster, c.Targets = n, shared, regs, cluster, targets
	return c
}

// stagesBackward are those of staged backward passes: x, dy and w are in shared memory, and in registers the share of dw.
func stagesBackward(name string) []Config {
	var out []Config
	for _, t := range pairs {
		c := Config{Name: name, X: t.x, W: t.w, Whole: true, Per: 16 / t.x.Size(), Min: 1024}
		if c.W.Size() > c.X.Size() {
			continue // w takes too much: the kernels of wide rows serve
		}
		row := 64 << 10 / c.X.Size()
		for _, cluster := range []int{1, 2, 4, 8} {
			if n := row * cluster; n <= widest {
				out = append(out, c.stage(n, 4, 0, cluster, roomy...))
			}
			if n := row / 2 * cluster; cluster > 1 && n <= widest {
				out = append(out, c.stage(n, 2, 0, cluster, small...))
			}
		}
	}
	return out
}
