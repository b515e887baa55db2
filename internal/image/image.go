// Package image is the form of compiled code that gotile gen -cubin puts beside the generated files and that programs
// embed: one line that says what it was compiled from, then the cubin. Whoever loads it can tell, without a compiler,
// that it belongs to the source at hand.
package image

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Suffix ends the files' names: KERNEL.ARCH.cubin.
const Suffix = ".cubin"

// magic begins the first line; the number is that of the format.
const magic = "gotile-image-1 "

// ErrStale says that the code was compiled from something else than what is at hand.
var ErrStale = errors.New("stale")

// Origin is what compiled code was made from.
type Origin struct {
	Source  string // CUDA C
	Options string // of the compiler, but for the architecture
	Arch    string // sm_90a
}

// Image is what a file holds.
type Image struct {
	Arch  string
	NVRTC string // the compiler's version: "13.0"
	Code  []byte // the cubin

	source, options string // their hashes
}

// Seal is the file of code that a compiler of a version made from o.
func Seal(o Origin, nvrtc string, code []byte) []byte {
	head := fmt.Sprintf("%s%s %s %s %s %s\n", magic, o.Arch, nvrtc, hash(o.Source), hash(o.Options), hash(string(code)))
	return append([]byte(head), code...)
}

// Parse reads a file. One that is damaged, or none of Seal's, is an error.
func Parse(file string) (*Image, error) {
	head, code, ok := strings.Cut(file, "\n")
	fields := strings.Split(strings.TrimPrefix(head, magic), " ")
	if !ok || !Is(file) || len(fields) != 5 {
		return nil, errors.New("it is no compiled code of gotile's, or of another version of gotile")
	}
	i := &Image{Arch: fields[0], NVRTC: fields[1], source: fields[2], options: fields[3], Code: []byte(code)}
	if hash(code) != fields[4] {
		return nil, errors.New("it is damaged: its checksum does not hold")
	}
	return i, nil
}

// Is reports whether a file begins as Seal's do.
func Is(file string) bool { return strings.HasPrefix(file, magic) }

// Fresh says why the code must not be used for o; nil where it was compiled from just that. The errors are ErrStale.
func (i *Image) Fresh(o Origin) error {
	switch {
	case i.Arch != o.Arch:
		return fmt.Errorf("it is for %s, not %s: %w", i.Arch, o.Arch, ErrStale)
	case i.source != hash(o.Source):
		return fmt.Errorf("it was compiled from another text of the kernel: %w", ErrStale)
	case i.options != hash(o.Options):
		return fmt.Errorf("it was compiled with other options: %w", ErrStale)
	}
	return nil
}

// hash is 128 bits of SHA-256: nobody forges what stands in one's own repository.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
