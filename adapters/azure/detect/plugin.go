package detect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// plugin is a program that signs the user in, such as kubelogin (Kubernetes: client-go credential plugins).
type plugin struct {
	APIVersion         string              `json:"apiVersion"`
	Command            string              `json:"command"`
	Args               []nodeconfig.Secret `json:"args"`
	Env                []nodeconfig.EnvVar `json:"env"`
	ProvideClusterInfo bool                `json:"provideClusterInfo"`
	InstallHint        string              `json:"installHint"`
}

// pluginVersion is the default if the kubeconfig names no version.
const pluginVersion = "client.authentication.k8s.io/v1"

// pluginInput is a plug-in's input (client.authentication.k8s.io, ExecCredential).
type pluginInput struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Interactive bool           `json:"interactive"`
		Cluster     *pluginCluster `json:"cluster,omitempty"`
	} `json:"spec"`
}

type pluginCluster struct {
	Server    string `json:"server"`
	Authority string `json:"certificate-authority-data,omitempty"`
}

// pluginOutput is a plug-in's output.
type pluginOutput struct {
	Kind   string `json:"kind"`
	Status struct {
		Token       string `json:"token"`
		Certificate string `json:"clientCertificateData"`
		Key         string `json:"clientKeyData"`
	} `json:"status"`
}

// mostOutput limits a plug-in's output.
const mostOutput = 1 << 20

// run runs the plug-in for a credential. The plug-in's messages for people go to messages. No error contains its output.
func (p *plugin) run(ctx context.Context, s *settings, authority []byte, messages io.Writer) (*pluginOutput, error) {
	in := pluginInput{APIVersion: cmp.Or(p.APIVersion, pluginVersion), Kind: "ExecCredential"}
	if p.ProvideClusterInfo {
		in.Spec.Cluster = &pluginCluster{s.server.Server, base64.StdEncoding.EncodeToString(authority)}
	}
	info, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	program := p.Command
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		program = filepath.Join(s.directory, program) // relative to the kubeconfig, as in kubectl
	}
	var args []string
	for _, arg := range p.Args {
		args = append(args, arg.Reveal())
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "KUBERNETES_EXEC_INFO="+string(info))
	for _, v := range p.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value.Reveal())
	}
	answer := limited{left: mostOutput}
	cmd.Stdout, cmd.Stderr = &answer, messages
	err = cmd.Run()
	if answer.left < 0 {
		return nil, fmt.Errorf("the plug-in %s of the kubeconfig answers with more than a credential", p.Command)
	}
	if err != nil {
		hint := ""
		if errors.Is(err, exec.ErrNotFound) && p.InstallHint != "" {
			hint = "; " + strings.TrimSpace(p.InstallHint)
		}
		return nil, fmt.Errorf("the plug-in %s of the kubeconfig: %w%s", p.Command, err, hint)
	}
	out := new(pluginOutput)
	if err := json.Unmarshal(answer.data.Bytes(), out); err != nil || out.Kind != "ExecCredential" {
		return nil, fmt.Errorf("the plug-in %s of the kubeconfig does not answer with an ExecCredential", p.Command)
	}
	if out.Status.Token == "" && out.Status.Certificate == "" {
		return nil, fmt.Errorf("the plug-in %s of the kubeconfig answers without a credential", p.Command)
	}
	return out, nil
}

// limited accepts a number of bytes, and fails on more.
type limited struct {
	data bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, io.ErrShortWrite
	}
	return l.data.Write(p)
}
