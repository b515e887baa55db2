package device

import "sync"

// Images are compiled kernels in memory, for devices of one process that load the same kernels: what one of them has
// compiled, or read from the cache, the others have too, even where no cache can be written. They are kept as long as
// the Images are. The zero value is empty and ready; it is safe for concurrent use.
type Images struct {
	byKey sync.Map // the cache's key -> []byte, which nobody changes
}

// WithImages makes the device keep compiled kernels in i, and take them from there. The simulator compiles nothing.
func WithImages(i *Images) Option { return func(c *config) { c.images = i } }

// get returns the image of a key, building it where it is missing. Two callers that miss the same image both build it.
// Failures are not kept. A nil *Images keeps nothing.
func (i *Images) get(key string, build func() ([]byte, error)) ([]byte, error) {
	if i == nil {
		return build()
	}
	if image, ok := i.byKey.Load(key); ok {
		return image.([]byte), nil
	}
	image, err := build()
	if err == nil {
		i.byKey.Store(key, image)
	}
	return image, err
}
