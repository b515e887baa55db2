package nvrtc

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// ErrNotFound is returned, wrapped with what was tried, where no libnvrtc can be opened.
var ErrNotFound = errors.New("libnvrtc not found: install NVIDIA's compiler library, for instance " +
	"`python3 -m pip install --upgrade --target ~/.local/share/gotile/nvrtc 'nvidia-cuda-nvrtc==13.0.*'`, " +
	"or set " + Variable + " to the path of a libnvrtc.so.*; gotile doctor says more")

// notFound is ErrNotFound with the files that were tried, each with the reason, and the folders that were searched.
func notFound(tried, folders []string) error {
	text := "\ntried\n\t" + strings.Join(tried, "\n\t")
	if folders != nil {
		text += "\nsearched for libnvrtc.so.* in\n\t" + strings.Join(folders, "\n\t")
	}
	return fmt.Errorf("%w%s", ErrNotFound, text)
}

// CompileError is a source that NVRTC or ptxas rejected. Error is the last meaningful line of the log; %+v prints
// the whole log.
type CompileError struct {
	Name string // the source's name
	Arch string
	Code string // NVRTC's name for the failure: NVRTC_ERROR_COMPILATION
	Log  string

	File    string // where the last message stands: the Go file where the source has #line markers, else Name; may be empty
	Line    int    // 0 where that is not known; of the assembler's messages it is with Options.Lines only
	Message string // the last message without its position
}

// Error is "rmsnorm.go:41: identifier ... (rmsnorm.cu for sm_90a)".
func (e *CompileError) Error() string {
	msg := e.Message
	if msg == "" {
		msg = strings.TrimSpace(e.Log)
	}
	if e.Line > 0 {
		msg = fmt.Sprintf("%s:%d: %s", e.File, e.Line, msg)
	}
	return fmt.Sprintf("%s (%s for %s)", msg, e.Name, e.Arch)
}

// Format prints the whole log for %+v.
func (e *CompileError) Format(f fmt.State, verb rune) {
	if verb == 'q' {
		fmt.Fprintf(f, "%q", e.Error())
		return
	}
	io.WriteString(f, e.Error())
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, "\n%s:\n%s", e.Code, e.Log)
	}
}

// The forms of the messages:
//
//	rmsnorm.go(41): error: identifier "q" is undefined
//	rmsnorm.go(41): error #20: identifier "q" is undefined
//	ptxas application ptx input, line 20; error   : Arguments mismatch for instruction 'add'
//	ptxas fatal   : Ptx assembly aborted due to errors
//	nvrtc: error: invalid value for --gpu-architecture (-arch)
var (
	sourceMessage = regexp.MustCompile(`^(.*)\((\d+)\): (?:catastrophic )?error(?: #[\w-]+)?\s*: (.*)$`)
	otherMessage  = regexp.MustCompile(`^(?:ptxas|nvrtc)\b.*?\b(?:error|fatal)\s*: (.*)$`)
	// aborted only says that there were errors above.
	aborted = regexp.MustCompile(`Ptx assembly aborted|errors? detected in the compilation`)
)

func newCompileError(name, arch, code, log, ptx string) *CompileError {
	e := &CompileError{Name: name, Arch: arch, Code: code, Log: log}
	lines := strings.Split(log, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if aborted.MatchString(line) {
			continue
		}
		if m := sourceMessage.FindStringSubmatch(line); m != nil {
			e.File, e.Message = m[1], m[3]
			e.Line, _ = strconv.Atoi(m[2])
			return e
		}
		if m := otherMessage.FindStringSubmatch(line); m != nil {
			e.Message = line
			if m := ptxLine.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				e.File, e.Line = sourceLine(ptx, n)
			}
			return e
		}
	}
	if e.Message = strings.TrimSpace(log); e.Message == "" {
		e.Message = code
	}
	return e
}
