package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// card is a GPU as nvidia-smi knows it: a number or a UUID. Empty is none, of which nothing is known.
type card string

// cardOf finds what a device is to nvidia-smi, which does not heed CUDA_VISIBLE_DEVICES.
func cardOf(device string) card {
	n, ok := strings.CutPrefix(device, "cuda:")
	if !ok {
		return ""
	}
	i, err := strconv.Atoi(n)
	if visible := strings.Split(os.Getenv("CUDA_VISIBLE_DEVICES"), ","); err == nil && i >= 0 && visible[0] != "" && i < len(visible) {
		return card(strings.TrimSpace(visible[i]))
	}
	return card(n)
}

// smiTime bounds nvidia-smi, which hangs where the driver does. Tests shorten it.
var smiTime = 30 * time.Second

// query asks nvidia-smi; nothing where there is none.
func (c card) query(ctx context.Context, what, fields string) [][]string {
	if c == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, smiTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nvidia-smi", "--id="+string(c), "--format=csv,noheader", "--query-"+what+"="+fields)
	cmd.WaitDelay = smiTime
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			rows = append(rows, strings.Split(line, ", "))
		}
	}
	return rows
}

// clocks are clocks, power, temperature and the reasons of throttling, as they are now.
func (c card) clocks(ctx context.Context) map[string]string {
	names := []string{"clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "clocks_event_reasons.active"}
	got := map[string]string{}
	if rows := c.query(ctx, "gpu", strings.Join(names, ",")); len(rows) == 1 && len(rows[0]) == len(names) {
		for i, n := range names {
			got[n] = rows[0][i]
		}
	}
	return got
}

// strangers are the compute processes on the card that are neither this one nor its children.
func (c card) strangers(ctx context.Context) []string {
	var out []string
	for _, row := range c.query(ctx, "compute-apps", "pid,process_name") {
		pid, err := strconv.Atoi(row[0])
		if err == nil && !descends(pid, os.Getpid()) {
			out = append(out, strings.Join(row, " "))
		}
	}
	return out
}

// doubt says that the card may not be the device, whose name the driver gives: nvidia-smi numbers cards by their slots,
// the driver by their speed. Empty where there is no doubt.
func (c card) doubt(ctx context.Context, device string) string {
	rows := c.query(ctx, "gpu", "name")
	if len(rows) != 1 || strings.HasPrefix(device, rows[0][0]) { // of a part of a card the driver says more
		return ""
	}
	return fmt.Sprintf("to nvidia-smi GPU %s is a %s: clocks and other processes may be another card's; set CUDA_DEVICE_ORDER=PCI_BUS_ID", c, rows[0][0])
}

// descends reports whether a process is another or comes from it.
func descends(pid, ancestor int) bool {
	for range 100 { // no process has as many ancestors
		if pid == ancestor {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		// The name, in parentheses, may hold anything; state and parent follow it.
		_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
		fields := strings.Fields(rest)
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 1 {
			return false
		}
	}
	return false
}

// lockPath is the file that is locked while a card is measured. It has the card's UUID where nvidia-smi tells it: one
// card has several names.
func (c card) lockPath(ctx context.Context) string {
	name := string(c)
	if rows := c.query(ctx, "gpu", "uuid"); len(rows) == 1 {
		name = rows[0][0]
	}
	return filepath.Join(os.TempDir(), "gotile-bench-"+strings.ReplaceAll(name, "/", "-")+".lock")
}

// writable says why no file can be made in a folder, before time is spent on what would be in it.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".gotile-bench-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// replaceable says why a file cannot be replaced by a whole new one: a folder, or a device such as /dev/stdout.
func replaceable(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file, which a new one could replace", path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writable(filepath.Dir(path))
}

// processor is the host's, as far as it is known, with what of it the program uses and the version of Go.
func processor() string {
	name := runtime.GOARCH
	text, _ := os.ReadFile("/proc/cpuinfo") // of Linux
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			name = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%s, %d processors, GOMAXPROCS %d, %s", name, runtime.NumCPU(), runtime.GOMAXPROCS(0), runtime.Version())
}

// binary is the SHA-256 of the program that runs; empty where it cannot be read.
func binary() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
