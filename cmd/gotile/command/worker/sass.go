package worker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/target"
)

// What check says of machine code: how many multiplies of matrices and tensor copies it has, and how full it can make a
// multiprocessor.

// counted are the instructions of machine code that check counts: multiplies of warpgroups and of warps, and tensor copies.
var counted = []string{"HGMMA", "HMMA", "UTMALDG"}

// disassembler finds nvdisasm: in the search path, or beside the NVRTC of a wheel; empty: there is none.
func disassembler(lib *nvrtc.Library) string {
	if path, err := exec.LookPath("nvdisasm"); err == nil {
		return path
	}
	path := filepath.Join(filepath.Dir(filepath.Dir(lib.Path())), "bin", "nvdisasm")
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return path
	}
	return ""
}

// count counts instructions of a cubin, "HGMMA 4, UTMALDG 2"; a dash: none of them.
func count(nvdisasm string, cubin []byte) (string, error) {
	f, err := os.CreateTemp("", "gotile-*.cubin")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(cubin); err == nil {
		err = f.Close()
	}
	if err != nil {
		return "", err
	}
	text, err := exec.Command(nvdisasm, f.Name()).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", nvdisasm, err)
	}
	return countText(string(text)), nil
}

var opcode = regexp.MustCompile(`(?m)^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+ +)?(\w+)`)

// countText counts instructions of a disassembly.
func countText(text string) string {
	n := map[string]int{}
	for _, m := range opcode.FindAllStringSubmatch(text, -1) {
		n[m[1]]++
	}
	var out []string
	for _, name := range counted {
		if n[name] > 0 {
			out = append(out, fmt.Sprintf("%s %d", name, n[name]))
		}
	}
	if out == nil {
		return "-"
	}
	return strings.Join(out, ", ")
}

// Of every target: registers of a multiprocessor, and the pieces in which a warp gets them; the shared memory that the
// system takes of each block, and of a multiprocessor beyond what one block can have; the most blocks, of which some have
// 16 or 24: that counts for blocks of one or two warps.
const (
	smRegisters  = 64 << 10
	registerUnit = 256
	systemShared = 1 << 10
	mostBlocks   = 32
)

// occupancy is the share of a multiprocessor's threads that blocks of a kernel can fill, in percent.
func occupancy(t *target.Target, threads, registers, shared int) int {
	warp := (registers*32 + registerUnit - 1) / registerUnit * registerUnit
	// A quarter of the registers belongs to each of four parts, among which warps are dealt out.
	warps := smRegisters / 4 / max(warp, 1) * 4
	blocks := min(mostBlocks, t.Threads/threads, warps/((threads+31)/32), (t.Shared+systemShared)/(shared+systemShared))
	return 100 * blocks * threads / t.Threads
}
