package lab

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/test/e2e/registry"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// AWS's image registry, which the sandbox's DNS server knows: the addresses for logins and for pulls.
const (
	ecrAPI  = "api.ecr." + Region + ".amazonaws.com"
	ecrHost = fakecloud.Account + ".dkr.ecr." + Region + ".amazonaws.com"
	// eksHost has EKS's own images, such as that of pods' sandboxes (EKS User Guide, "View Amazon container image registries").
	eksHost                       = "602401143452.dkr.ecr." + Region + ".amazonaws.com"
	pauseRepository, pauseVersion = "eks/pause", "3.5"

	ecrAddress = "10.77.0.4"
)

// ecr starts the registry on the sandbox's network. Only a login may read from it, and only a machine's role gets a login.
func (l *Lab) ecr(ctx context.Context) error {
	pki, err := NewPKI(filepath.Join(l.dir, "aws-pki"), "e2e-aws-ca")
	if err != nil {
		return err
	}
	l.AWSPKI = pki
	program, err := os.ReadFile(filepath.Join(l.Parts.Payload, "payload"))
	if err != nil {
		return err
	}
	layer, err := registry.Layer(program, "ecr")
	if err != nil {
		return err
	}
	content, password := registry.Empty(), rand.Text()
	for _, image := range [...][2]string{{repository, tag}, {pauseRepository, pauseVersion}} {
		if err := registry.Push(ctx, content, image[0], image[1], layer); err != nil {
			return err
		}
	}
	requests := l.Registries.Requests
	api, images := requests.of("ecr-api", l.Cloud.ECR(password)), requests.of("ecr", login(content, fakecloud.ECRUser, password))
	_, err = serveTLS(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == ecrAPI {
			api.ServeHTTP(w, r)
			return
		}
		images.ServeHTTP(w, r)
	}), ecrAddress+":443", pki, ecrAPI, ecrHost, eksHost)
	return err
}
