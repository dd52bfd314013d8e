package plan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// One config makes one plan, to the byte, however often it is planned and by however many at once.
func TestPlanIsAFunction(t *testing.T) {
	c, known := contract(t, "aks/azure-cni.json"), ubuntu(t)
	want, _ := New(c, known)
	document, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	config := nodeconfig.Encode(c)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 500 {
				got, _ := New(c, known)
				if len(got.Resources) != len(want.Resources) || i%25 == 0 && !reflect.DeepEqual(got, want) || !sameFiles(got, want) {
					t.Error("the plan is another")
					return
				}
			}
			got, _ := New(c, known)
			if again, err := json.Marshal(got); err != nil || !bytes.Equal(again, document) {
				t.Error("the plan's JSON is another", err)
			}
		})
	}
	wait.Wait()
	if !bytes.Equal(config, nodeconfig.Encode(c)) {
		t.Error("planning changes the config")
	}
}

func sameFiles(a, b resource.Plan) bool {
	for i := range a.Resources {
		have, isFile := a.Resources[i].Spec.(*resource.File)
		if isFile && !bytes.Equal(have.Content, b.Resources[i].Spec.(*resource.File).Content) {
			return false
		}
	}
	return true
}

// A plan shares no memory with the config that would let one change the other.
func TestConfigIsNotShared(t *testing.T) {
	for name := range contracts(t) {
		c := contract(t, name)
		old, _ := New(c, ubuntu(t))
		before, err := json.Marshal(old)
		if err != nil {
			t.Fatal(err)
		}
		for key := range c.Kubelet.Labels {
			c.Kubelet.Labels[key] = "changed"
		}
		for i := range c.Kubelet.Flags {
			c.Kubelet.Flags[i].Value = "changed"
		}
		clear(c.Kubelet.Config)
		clear(c.System.Sysctls)
		if after, err := json.Marshal(old); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the plan changes with the config: %v", name, err)
		}
	}
}

// No secret of a contract is in its plan's JSON, in a reason or in a problem.
func TestPlanShowsNoSecret(t *testing.T) {
	const canary = "canary.0123456789canary"
	c := contract(t, "aks/azure-cni.json")
	c.Join.BootstrapToken = nodeconfig.NewSecret(canary)
	c.Cloud.Azure.Identity.ClientSecret = nodeconfig.NewSecret(canary)
	c.Proxy.HTTP = nodeconfig.NewSecret("http://user:" + canary + "@proxy:3128")
	c.Access.Realm = &nodeconfig.Realm{Password: nodeconfig.NewSecret(canary)}
	for _, method := range []nodeconfig.JoinMethod{nodeconfig.JoinBootstrapToken, nodeconfig.JoinClientCertificate} {
		c.Join.Method = method
		c.Join.ClientCertificate = &nodeconfig.ClientCertificate{Key: nodeconfig.NewSecret(canary)}
		p, problems := New(c, ubuntu(t))
		document, err := json.Marshal(struct {
			Plan     resource.Plan
			Problems []nodeconfig.Problem
		}{p, problems})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(document, []byte("canary")) {
			t.Errorf("%s: a secret is shown: %s", method, document)
		}
		if len(problems) < 2 {
			t.Errorf("problems are %v", problems)
		}
	}
}
