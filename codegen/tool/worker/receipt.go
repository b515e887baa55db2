package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Receipt is receipts/GPU.json: the kernels of a package that passed their cases on one kind of GPU. The fields above
// Kernels describe the last run that changed the file.
type Receipt struct {
	Device  string   `json:"device"`
	Driver  string   `json:"driver"`
	NVRTC   string   `json:"nvrtc"`
	Commit  string   `json:"commit"`
	Command string   `json:"command"`
	Seconds float64  `json:"seconds"`
	Kernels []Record `json:"kernels"` // by name, then target
}

// Record is one kernel on one target: what ran, and what came out. It is fresh while both hashes hold.
type Record struct {
	Name   string             `json:"name"`
	Target string             `json:"target"`
	CU     string             `json:"cu_sha256"`     // of the committed .cu
	Launch string             `json:"launch_sha256"` // of gowrap.LaunchText
	Cases  int                `json:"cases"`         // that launched it, all passed
	Worst  map[string]float64 `json:"worst"`         // the largest scale-relative error of each compared value
	Ran    []string           `json:"ran"`           // the cases, sorted: what to run again when it is stale
}

// readReceipt reads a receipt; one that does not exist is empty.
func readReceipt(path string) (*Receipt, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Receipt{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Receipt{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s is not a receipt (%w); remove it and run: gotile verify", path, err)
	}
	return r, nil
}

// write replaces the file whole.
func (r *Receipt) write(path string) error {
	slices.SortFunc(r.Kernels, func(a, b Record) int {
		return 2*strings.Compare(a.Name, b.Name) + strings.Compare(a.Target, b.Target)
	})
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return writeFile(path, append(text, '\n'))
}

// find is the record of a kernel on a target, or nil.
func (r *Receipt) find(name, target string) *Record {
	for i := range r.Kernels {
		if k := &r.Kernels[i]; k.Name == name && k.Target == target {
			return k
		}
	}
	return nil
}

// put adds or replaces a record.
func (r *Receipt) put(rec Record) {
	if old := r.find(rec.Name, rec.Target); old != nil {
		*old = rec
		return
	}
	r.Kernels = append(r.Kernels, rec)
}

// drop removes a record.
func (r *Receipt) drop(name, target string) {
	r.Kernels = slices.DeleteFunc(r.Kernels, func(k Record) bool { return k.Name == name && k.Target == target })
}

// why says what makes a record stale for a source; empty: it is fresh. A nil record is missing.
func (rec *Record) why(s *source) (string, error) {
	launch, err := s.launch()
	switch {
	case err != nil:
		return "", err
	case rec == nil:
		return "no receipt", nil
	case rec.CU != sum(s.text):
		return s.File + " has changed since it was verified", nil
	case rec.Launch != sum(launch):
		return "its launch (threads, shared memory, grid or arguments) has changed since it was verified", nil
	}
	return "", nil
}

// receiptDir is where receipts are kept.
func (j *job) receiptDir() (string, error) {
	if j.Out != "" {
		return j.Out, nil
	}
	if _, err := os.Stat(j.Dir); err != nil {
		return "", fmt.Errorf("this program was built elsewhere and the package's directory is not here; say with -out where receipts go")
	}
	return filepath.Join(j.Dir, "receipts"), nil
}

// receipts reads all receipts of the package, by file name.
func (j *job) receipts() (names []string, all []*Receipt, err error) {
	dir, err := j.receiptDir()
	if err != nil {
		return nil, nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, nil, err
	}
	for _, path := range paths {
		r, err := readReceipt(path)
		if err != nil {
			return nil, nil, err
		}
		names, all = append(names, filepath.Base(path)), append(all, r)
	}
	return names, all, nil
}
