package scenario

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// podArgs are the name of a pod, and the node that it must run on.
type podArgs struct {
	Name string `yaml:"name"`
	// Selector are labels by which the scheduler must find the node.
	Selector map[string]string `yaml:"selector"`
	// Image is an image that the node must pull for the pod. If empty, the pod uses an image that the node already has, and the
	// node must not pull.
	Image string `yaml:"image"`
}

// pod runs a pod on the node, and checks that it has an address, answers HTTP, and that its logs and exec work.
func (r *caseRun) pod(ctx context.Context, args podArgs) error {
	if err := r.serviceAccount(ctx); err != nil {
		return err
	}
	selector := map[string]string{"kubernetes.io/hostname": r.node.nodeName()}
	for name, value := range args.Selector {
		selector[name] = value
	}
	image, pull := parts.Pause, "Never"
	if args.Image != "" {
		image, pull = args.Image, "Always"
	}
	tolerations := []any{map[string]any{"operator": "Exists"}}
	container := map[string]any{"image": image, "imagePullPolicy": pull}
	err := r.Lab.API.Create(ctx, collectionOfPods, podOf(args.Name, selector, tolerations, container))
	if err != nil {
		return err
	}
	address, containers, err := r.runningPod(ctx, args.Name)
	if err != nil {
		return err
	}
	r.pods[args.Name] = containers
	// A container without a probe is ready when it has started, before its program listens.
	err = r.eventually(ctx, func() error { return r.answers(ctx, address, "payload on "+args.Name) })
	if err != nil {
		return err
	}
	out, err := r.kubectl(ctx, "logs", args.Name)
	if err != nil || !strings.Contains(out, "payload serves :8080") {
		return fmt.Errorf("kubectl logs: %q: %w", out, err)
	}
	out, err = r.kubectl(ctx, "exec", args.Name, "--", "/payload", "say", "hello")
	if err != nil || strings.TrimSpace(out) != "hello" {
		return fmt.Errorf("kubectl exec: %q: %w", out, err)
	}
	return nil
}

// podOf is a pod with one container whose program answers HTTP.
func podOf(name string, selector map[string]string, tolerations []any, container map[string]any) map[string]any {
	maps.Copy(container, map[string]any{"name": "web", "args": []string{"serve", ":8080"}})
	return map[string]any{
		"metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"nodeSelector":                  selector,
			"tolerations":                   tolerations,
			"containers":                    []any{container},
			"terminationGracePeriodSeconds": 1,
		},
	}
}

// serviceAccount waits until the controllers have created the default service account. Without it, the API server admits no pod.
func (r *caseRun) serviceAccount(ctx context.Context) error {
	return r.eventually(ctx, func() error {
		return r.Lab.API.Get(ctx, "/api/v1/namespaces/default/serviceaccounts/default", nil)
	})
}

// runningPod waits until a pod runs, and returns its address and the IDs of its containers.
func (r *caseRun) runningPod(ctx context.Context, name string) (address, containers string, err error) {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	for {
		var pod struct {
			Metadata struct{ UID string }
			Status   struct {
				Phase             string
				PodIP             string `json:"podIP"`
				ContainerStatuses []struct {
					Ready        bool
					ContainerID  string `json:"containerID"`
					RestartCount int
					State        map[string]any
				}
				Conditions []map[string]any
			}
		}
		if err := r.Lab.API.Get(ctx, collectionOfPods+"/"+name, &pod); err != nil {
			return "", "", err
		}
		s := pod.Status
		if len(s.ContainerStatuses) == 1 && s.ContainerStatuses[0].Ready {
			address, err := netip.ParseAddr(s.PodIP)
			if err != nil || !netip.MustParsePrefix(lab.PodRange).Contains(address) {
				return "", "", fmt.Errorf("the pod's address is %q, want one of %s", s.PodIP, lab.PodRange)
			}
			c := s.ContainerStatuses[0]
			return s.PodIP, fmt.Sprintf("%s, %s, restarted %d times", s.PodIP, c.ContainerID, c.RestartCount), nil
		}
		select {
		case <-ctx.Done():
			return "", "", fmt.Errorf("pod %s does not run: phase %s, %v, %v", name, s.Phase, s.ContainerStatuses, s.Conditions)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

type podKeptArgs struct {
	Name string `yaml:"name"`
}

// podKept checks that a pod has run without a break since the pod step, and still answers.
func (r *caseRun) podKept(ctx context.Context, args podKeptArgs) error {
	address, containers, err := r.runningPod(ctx, args.Name)
	if err != nil {
		return err
	}
	if was := r.pods[args.Name]; containers != was {
		return fmt.Errorf("pod %s is %s, and was %s", args.Name, containers, was)
	}
	return r.answers(ctx, address, "payload on "+args.Name)
}

// answers checks that a pod answers over the network.
func (r *caseRun) answers(ctx context.Context, address, want string) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+":8080/", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("the pod does not answer: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1000))
	if err != nil || !strings.Contains(string(body), want) {
		return fmt.Errorf("the pod answers %q, want %q", body, want)
	}
	return nil
}

// kubectl runs kubectl as a user would.
func (r *caseRun) kubectl(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	argv := r.Lab.Kubectl(args...)
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// pendingArgs describe a pod that fits on no node.
type pendingArgs struct {
	Name     string            `yaml:"name"`
	Selector map[string]string `yaml:"selector"`
	// CPU is its CPU request; default 100m.
	CPU string `yaml:"cpu"`
}

// pending creates a pod that waits for a node.
func (r *caseRun) pending(ctx context.Context, args pendingArgs) error {
	if err := r.serviceAccount(ctx); err != nil {
		return err
	}
	tolerations := []any{map[string]any{"key": "dedicated", "operator": "Exists"}}
	return r.Lab.API.Create(ctx, collectionOfPods, podOf(args.Name, args.Selector, tolerations, map[string]any{
		"image": parts.Pause, "imagePullPolicy": "Never",
		"resources": map[string]any{"requests": map[string]any{"cpu": cmp.Or(args.CPU, "100m"), "memory": "64Mi"}},
	}))
}

// runs waits until a pod runs.
func (r *caseRun) runs(ctx context.Context, args pendingArgs) error {
	_, _, err := r.runningPod(ctx, args.Name)
	return err
}

// deletePod removes a pod.
func (r *caseRun) deletePod(ctx context.Context, args pendingArgs) error {
	return r.Lab.API.Delete(ctx, collectionOfPods+"/"+args.Name)
}
