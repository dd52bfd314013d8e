package resource

import (
	"errors"
	"fmt"
	"path"
)

// Image is a container image that the runtime must have before the kubelet needs one. An existing one is not pulled
// again.
type Image struct {
	// Image is its name, as in pods and in the runtime's configuration.
	Image string `json:"image"`
	// Socket is the container runtime's socket.
	Socket string `json:"socket"`
	// Provider is a kubelet image credential provider, which provides the login for a registry that requires one. Empty
	// means that there is no such program.
	Provider string `json:"provider,omitempty"`
	// ProviderEnv has variables for the provider's environment.
	ProviderEnv map[string]string `json:"providerEnv,omitempty"`
	// Reach is how to reach a registry that requires a login. The runtime reaches it by the runtime's settings.
	Reach Reach `json:"reach,omitzero"`
	// Timeout limits all tries.
	Timeout Duration `json:"timeout"`
	// ExitCodes are the provisioning's exit codes by cause; the resource's ExitCode is for every other cause.
	ExitCodes map[Cause]int `json:"exitCodes,omitempty"`
}

// Kind implements Spec.
func (*Image) Kind() string { return "Image" }

// Name implements Spec.
func (i *Image) Name() string { return i.Image }

// Paths implements Spec: the runtime decides where it keeps the image.
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
