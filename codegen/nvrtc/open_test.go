//go:build linux && (amd64 || arm64) && !nocuda

package nvrtc

import (
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestReasonIsNeverEmpty: dlerror's text is of the thread that failed; a goroutine that changed threads in between
// would find none. More goroutines than processors make it change often.
func TestReasonIsNeverEmpty(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for range 500 {
				for file, want := range map[string]string{"libnvrtc-which-is-not-there.so": "libnvrtc-which-is-not-there.so", "libc.so.6": "undefined symbol"} {
					if _, err := open(file); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: the reason is %v, without %q", file, err, want)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
