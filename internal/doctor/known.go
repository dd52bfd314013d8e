package doctor

import (
	"sync"

	"github.com/slipway-dev/slipway/internal/facts"
)

// known is what several checks need to know of the machine. Each part is found once.
type known struct {
	layout layout
	access access
	names  lookups
	own    ownNode

	facts      once[facts.Facts]
	plan       once[plannedOrError]
	containerd once[*containerdConfig]
}

// once runs a function of several callers once, and keeps its result.
type once[T any] struct {
	once  sync.Once
	value T
}

func (o *once[T]) get(find func() T) T {
	o.once.Do(func() { o.value = find() })
	return o.value
}
