package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/cri"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// providerPatience limits one run of an image credential provider, as the kubelet does (Kubernetes:
	// pkg/credentialprovider/plugin/plugin.go, execPlugin).
	providerPatience = time.Minute
	// maxProviderAnswer limits its answer. ECR's passwords have some 2 KiB.
	maxProviderAnswer = 64 << 10
	providerVersion   = "credentialprovider.kubelet.k8s.io/v1"
)

// providerLogin gets an image's login from an image credential provider, as the kubelet does (Kubernetes docs,
// Configure a kubelet image credential provider). Errors do not contain the answer.
func providerLogin(ctx context.Context, i *resource.Image) (*cri.Login, error) {
	ctx, cancel := context.WithTimeout(ctx, providerPatience)
	defer cancel()
	request, err := json.Marshal(map[string]string{"apiVersion": providerVersion, "kind": "CredentialProviderRequest", "image": i.Image})
	if err != nil {
		return nil, err
	}
	env := maps.Clone(i.ProviderEnv)
	if env == nil {
		env = make(map[string]string)
	}
	for name, value := range map[string]string{
		"HTTP_PROXY": i.Reach.HTTP.Reveal(), "HTTPS_PROXY": i.Reach.HTTPS.Reveal(), "NO_PROXY": strings.Join(i.Reach.Direct, ","),
	} {
		if value != "" {
			env[name] = value
		}
	}
	_, variables := environment(env)
	answer, _, err := askPlugin(ctx, variables, bytes.NewReader(request), i.Provider)
	if err != nil {
		return nil, fmt.Errorf("%s gives no credentials for the image: %w", i.Provider, err)
	}
	return loginFor(i, answer)
}

// askPlugin runs a credential plug-in, and returns its answer, which is secret, and the end of its error output.
func askPlugin(ctx context.Context, variables []string, request io.Reader, program string, args ...string) (answer, said []byte, err error) {
	out, errors := limited{left: maxProviderAnswer}, new(tail)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = "/", variables, request, &out, errors, killGrace
	err = cmd.Run()
	return out.kept, errors.bytes(), err
}

// loginFor is the answer's login for an image's registry. If several patterns match, the kubelet takes the longest. A
// cloud's provider answers with the registry itself, or with one pattern.
func loginFor(i *resource.Image, answer []byte) (*cri.Login, error) {
	var response struct {
		Kind string                                         `json:"kind"`
		Auth map[string]struct{ Username, Password string } `json:"auth"`
	}
	if err := json.Unmarshal(answer, &response); err != nil || response.Kind != "CredentialProviderResponse" {
		return nil, fmt.Errorf("%s does not answer with a CredentialProviderResponse", i.Provider)
	}
	registry, _, _ := strings.Cut(i.Image, "/")
	names := make([]string, 0, len(response.Auth))
	for name := range response.Auth {
		names = append(names, name)
	}
	slices.Sort(names)
	if n := slices.Index(names, registry); n >= 0 {
		names = names[n : n+1]
	}
	if len(names) != 1 || response.Auth[names[0]].Password == "" {
		return nil, fmt.Errorf("%s has no credentials for %s", i.Provider, registry)
	}
	auth := response.Auth[names[0]]
	return &cri.Login{Server: registry, Username: auth.Username, Password: auth.Password}, nil
}

// limited keeps a program's output, and ends the program if the output is too long.
type limited struct {
	kept []byte
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errors.New("prints too much")
	}
	l.kept = append(l.kept, p...)
	return len(p), nil
}
