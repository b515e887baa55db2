package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/wholefile"
	"github.com/gotile/gotile/runtime/device"
)

// Receipt is receipts/GPU.json, or receipts/GPU-BINDING.json of programs that drive the GPU by another package: the kernels of a package that passed their cases on one kind of GPU. The fields above
// Kernels describe the last run that changed the file.
type Receipt struct {
	Device  string   `json:"device"`
	Target  string   `json:"target,omitempty"` // the device's own; receipts of older versions leave it to their records
	Driver  string   `json:"driver"`
	Binding string   `json:"binding,omitempty"` // device.Info.Binding: gorgonia
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
	Ran    []string           `json:"ran"`           // the cases as they are recorded, sorted: what to run again when it is stale
}

// readReceipt reads a receipt; one that does not exist is empty. A file that is cut off, or is something else, is an
// error: verify would otherwise write over it.
func readReceipt(path string) (*Receipt, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Receipt{}, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := parseReceipt(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a receipt (%w); remove it and run: gotile verify", path, err)
	}
	return r, nil
}

// parseReceipt takes what write has written, and nothing else.
func parseReceipt(text []byte) (*Receipt, error) {
	r := &Receipt{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(r); errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("it is cut off")
	} else if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	switch {
	case r.Device == "":
		return nil, errors.New("it names no device")
	case r.Kernels == nil:
		return nil, errors.New("it has no list of kernels")
	}
	for i, k := range r.Kernels {
		if k.Name == "" || k.CU == "" || k.Launch == "" {
			return nil, fmt.Errorf("record %d lacks a name or a hash", i+1)
		}
		if _, err := target.Lookup(k.Target); err != nil {
			return nil, fmt.Errorf("record %d, %s: %w", i+1, k.Name, err)
		}
	}
	if _, err := r.targets(); err != nil {
		return nil, err
	}
	return r, nil
}

// targets are those that the receipt's GPU stands for, none where neither the file nor a record says which GPU it is.
func (r *Receipt) targets() ([]string, error) {
	own := r.Target
	if own == "" && len(r.Kernels) > 0 {
		t, err := target.Lookup(r.Kernels[0].Target)
		if err != nil {
			return nil, err
		}
		own = t.Arch // a target that is no proxy is called as its architecture is
	}
	if own == "" {
		return nil, nil
	}
	t, err := target.Lookup(own)
	if err != nil {
		return nil, err
	}
	return standsFor(t), nil
}

// ranOn notes what the last run was on.
func (r *Receipt) ranOn(info device.Info, own *target.Target) {
	r.Device, r.Target, r.Driver, r.Binding, r.NVRTC = info.Name, own.Name, info.Driver, info.Binding, info.NVRTC
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
	return wholefile.Write(path, append(text, '\n'))
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
