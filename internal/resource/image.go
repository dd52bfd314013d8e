package resource

import (
	"errors"
	"fmt"
	"path"
)

// Image is a container image that the runtime has before the kubelet asks for one. One that is there is not pulled again.
type Image struct {
	// Image is its name, as pods and the runtime's configuration say it.
	Image string `json:"image"`
	// Socket is where the container runtime answers.
	Socket string `json:"socket"`
	// Provider is an image credential provider of the kubelet's, which says how to log in to a registry that asks for a login.
	// Empty: there is no such program.
	Provider string `json:"provider,omitempty"`
	// Reach is how a registry is reached that gives nobody the image. The runtime itself reaches it as its own settings say.
	Reach Reach `json:"reach,omitzero"`
	// Timeout bounds all tries.
	Timeout Duration `json:"timeout"`
	// ExitCodes are the codes of a provisioning that fails here, by cause; the resource's own is for every other cause.
	ExitCodes map[Cause]int `json:"exitCodes,omitempty"`
}

// Kind implements Spec.
func (*Image) Kind() string { return "Image" }

// Name implements Spec.
func (i *Image) Name() string { return i.Image }

// Paths implements Spec: where the runtime keeps it is its own.
func (*Image) Paths() []string { return nil }

// Valid implements Spec.
func (i *Image) Valid() error {
	if i.Image == "" || !path.IsAbs(i.Socket) || i.Timeout <= 0 || i.Provider != "" && !path.IsAbs(i.Provider) {
		return errors.Join(named(i), fmt.Errorf("image %q: want a name, the path of a socket, a time limit, and the path of a provider, if any", i.Image))
	}
	return named(i)
}

// Describe implements Spec.
func (i *Image) Describe() Description { return Description{Title: i.Image} }

func (i *Image) kept() *Image { return i.by(i.Reach.Kept()) }

func (i *Image) anonymous() *Image { return i.by(i.Reach.Anonymous()) }

func (i *Image) by(way Reach) *Image {
	changed := *i
	changed.Reach = way
	return &changed
}
