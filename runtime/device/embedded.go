package device

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/image"
)

// embedded is the code that a kernel carries for this GPU. Where there is none that may be used, unused says why; it is
// logged if there is code for this GPU that must not be used. A kernel without embedded code gives neither.
func (c *cuda) embedded(k *Kernel) (code []byte, unused error) {
	if c.fresh || len(k.Embedded) == 0 {
		return nil, nil
	}
	var others []string
	for _, file := range k.Embedded {
		i, err := image.Parse(file)
		if err == nil && i.Arch != c.target.Arch {
			others = append(others, i.Arch)
			continue
		}
		if err == nil {
			err = i.Fresh(image.Origin{Source: k.Source, Options: nvrtc.Options{}.Text(), Arch: c.target.Arch})
		}
		if err == nil {
			return i.Code, nil
		}
		unused = errors.Join(unused, fmt.Errorf("the code embedded for %s is not used: %w; run: gotile gen -cubin %s", c.target.Arch, err, c.target.Arch))
	}
	if unused != nil {
		c.log.Warn("gotile: embedded code is not used", "kernel", k.Name, "error", unused)
		return nil, unused
	}
	return nil, fmt.Errorf("code is embedded for %s only; gotile gen -cubin %s,%s adds this GPU's", strings.Join(others, " and "), strings.Join(others, ","), c.target.Arch)
}
