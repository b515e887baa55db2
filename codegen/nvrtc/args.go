package nvrtc

import "fmt"

// Args are the options that NVRTC gets. With the source, the architecture and the library's version they determine the
// result, so a cache of compiled code has them in its key.
func (o Options) Args() []string { return o.args() }

// Text is Args as one string.
func (o Options) Text() string { return fmt.Sprintf("%q", o.args()) }
