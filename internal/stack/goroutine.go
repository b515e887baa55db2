package stack

import (
	"bytes"
	"runtime"
	"strconv"
)

// Goroutine is the number of the calling goroutine, as tracebacks print it; never 0, never given out twice. Go has no
// other way to ask whose call this is. It takes a microsecond, so it is for rare questions, and for nothing that could
// be passed down instead.
func Goroutine() uint64 {
	var buf [64]byte
	text := buf[:runtime.Stack(buf[:], false)] // "goroutine 18 [running]:..."
	text = bytes.TrimPrefix(text, []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		panic("stack: a traceback that does not begin with the goroutine's number: " + string(text))
	}
	return n
}
