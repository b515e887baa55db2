package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gotile/gotile/internal/progen"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/wholefile"
)

// receipt is GPU.json: that all programs gave the same bits on a GPU and on the simulator.
type receipt struct {
	Device   string `json:"device"`
	Driver   string `json:"driver"`
	NVRTC    string `json:"nvrtc"`
	Commit   string `json:"commit"`
	Programs int    `json:"programs"` // numbers 0 to Programs-1
	Runs     []ran  `json:"runs"`     // one a target
}

// ran is all programs on one target. It is fresh while both hashes hold.
type ran struct {
	Target   string  `json:"target"`
	Launched int     `json:"launched"` // the programs that are for the target
	Texts    string  `json:"texts_sha256"`
	Launches string  `json:"launches_sha256"` // of the programs, with their sizes and data
	Seconds  float64 `json:"seconds"`
}

// current is what a run on a target would note now, but for the time.
func current(name string, first, count int) (ran, error) {
	t, err := target.Lookup(name)
	if err != nil {
		return ran{}, err
	}
	out := ran{Target: name}
	texts, launches := sha256.New(), sha256.New()
	for i := first; i < first+count; i++ {
		p := progen.Fixed(i)
		if !p.Claims(t) {
			continue
		}
		k, err := p.Kernel()
		if err != nil {
			return ran{}, fmt.Errorf("program %d: %w", i, err)
		}
		text, err := progen.Text(k, name)
		if err != nil {
			return ran{}, fmt.Errorf("program %d: %w", i, err)
		}
		launch := p.String()
		fmt.Fprintf(texts, "%d:%d:%s", i, len(text), text)
		fmt.Fprintf(launches, "%d:%d:%s", i, len(launch), launch)
		out.Launched++
	}
	out.Texts, out.Launches = hex.EncodeToString(texts.Sum(nil)), hex.EncodeToString(launches.Sum(nil))
	return out, nil
}

func (r *receipt) write(path string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return wholefile.Write(path, append(text, '\n'))
}

// readReceipt takes what write has written, and nothing else.
func readReceipt(path string) (*receipt, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &receipt{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s is not a receipt: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) || r.Device == "" || len(r.Runs) == 0 {
		return nil, fmt.Errorf("%s is not a receipt: it is cut off, or something follows its end", path)
	}
	return r, nil
}

// checkReceipts compares the receipts of a folder with the programs, in the words of gotile verify -check.
func checkReceipts(dir string, count int, stdout io.Writer) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	red := func(format string, args ...any) error {
		fmt.Fprintf(stdout, "RED  %s (package progen): %s\n", "random_programs", fmt.Sprintf(format, args...))
		fmt.Fprintf(stdout, "run on a machine with the GPU: progverify -receipts %s\n", dir)
		return errFailed
	}
	if len(paths) == 0 {
		return red("no receipt: no GPU has run them")
	}
	fresh := 0
	for _, path := range paths {
		r, err := readReceipt(path)
		if err != nil {
			return err
		}
		if r.Programs != count {
			return red("%s is of %d programs, there are %d", filepath.Base(path), r.Programs, count)
		}
		own, err := target.Lookup(r.Runs[0].Target)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		want := standsFor(own)
		if len(r.Runs) != len(want) {
			return red("%s has runs on %d targets; its GPU stands for %v", filepath.Base(path), len(r.Runs), want)
		}
		for i, have := range r.Runs {
			now, err := current(want[i], 0, count)
			switch now.Seconds = have.Seconds; {
			case err != nil:
				return err
			case have != now:
				return red("%s: what is printed for %s, or launched, has changed since it was verified", filepath.Base(path), want[i])
			}
			fresh++
		}
	}
	fmt.Fprintf(stdout, "random_programs: %d fresh receipts\n", fresh)
	return nil
}
