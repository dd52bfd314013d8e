// Package ekstoken makes the token by which a machine shows a cluster of Amazon's EKS which AWS identity it has, and the answer of a
// client-go credential plug-in. The token is a signed request to AWS's Security Token Service, which the cluster sends, and not the
// machine: the package asks the machine's metadata service alone. The agent's command "eks-token" calls it.
package ekstoken

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// prefix and clusterHeader are those of the tokens that EKS takes (aws-iam-authenticator, README, "API Authorization from Outside
	// a Cluster"): base64 of a signed URL, whose signature covers the cluster's name.
	prefix        = "k8s-aws-v1."
	clusterHeader = "x-k8s-aws-id"
	// signedFor is the URL's stated lifetime, which STS ignores. The cluster accepts a token for 15 minutes; one minute is
	// left for the request.
	signedFor = time.Minute
	tokenLife = 14 * time.Minute
	// emptyHash is SHA-256 of no body.
	emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	// maxSkew is how far ahead of STS's clock a signature may be (IAM User Guide, "Elements of an AWS API request signature").
	maxSkew = 5 * time.Minute
	// leastLife is how long credentials have to be good for.
	leastLife = time.Minute
)

// Request describes the wanted token.
type Request struct {
	// Cluster is the cluster's name, or the ID of a local cluster on an outpost.
	Cluster, Region string
	// FIPS asks for an endpoint of STS with cryptography validated by FIPS 140.
	FIPS bool
}

// Token is good until a time.
type Token struct {
	Value nodeconfig.Secret
	Until time.Time
}

// Get makes a token from the credentials of the machine's role. If the request has no region, it uses the machine's.
func Get(ctx context.Context, service *metadata.Service, r Request, now func() time.Time) (Token, error) {
	if r.Region == "" {
		instance, err := service.Instance(ctx)
		switch {
		case awsname.IsRegion(instance.Region):
			r.Region = instance.Region
		case err != nil:
			return Token{}, fmt.Errorf("the machine's region, because there is no --region: %w", err)
		default:
			return Token{}, errors.New("the metadata service does not say the machine's region: give --region")
		}
	}
	role, err := service.Role(ctx)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return Token{}, fmt.Errorf("credentials of the instance's role: %w; the instance needs an instance profile, with a role that the cluster knows", err)
	case err != nil:
		return Token{}, fmt.Errorf("credentials of the instance's role: %w", err)
	}
	return sign(r, role, now())
}

func sign(r Request, role metadata.Role, now time.Time) (Token, error) {
	if err := usable(role, now); err != nil {
		return Token{}, err
	}
	query := url.Values{"Action": {"GetCallerIdentity"}, "Version": {"2011-06-15"}, "X-Amz-Expires": {strconv.Itoa(int(signedFor.Seconds()))}}
	request := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: "https", Host: awsname.STSHost(r.Region, r.FIPS), Path: "/", RawQuery: query.Encode()},
		Header: http.Header{},
	}
	request.Header.Set(clusterHeader, r.Cluster)
	keys := aws.Credentials{AccessKeyID: role.KeyID, SecretAccessKey: role.Key.Reveal(), SessionToken: role.Session.Reveal()}
	signed, _, err := v4.NewSigner().PresignHTTP(context.Background(), keys, request, emptyHash, "sts", r.Region, now)
	if err != nil {
		return Token{}, errors.New("the request to AWS STS cannot be signed") // the error could have a part of the credentials
	}
	until := now.Add(tokenLife)
	if role.Expires.Before(until) {
		until = role.Expires
	}
	return Token{nodeconfig.NewSecret(prefix + base64.RawURLEncoding.EncodeToString([]byte(signed))), until}, nil
}

// usable reports why AWS would refuse what these credentials sign now.
func usable(role metadata.Role, now time.Time) error {
	if skew := now.Sub(role.At); !role.At.IsZero() && skew.Abs() > maxSkew {
		than := "ahead of"
		if skew < 0 {
			than = "behind"
		}
		return fmt.Errorf("the machine's clock (%s) is %s %s that of the metadata service, and AWS refuses what is signed then: look at the service that sets the clock, such as chronyd",
			now.UTC().Format(time.RFC3339), skew.Abs().Round(time.Second), than)
	}
	if role.Expires.Sub(now) < leastLife {
		return fmt.Errorf("the credentials of the role expire at %s, it is %s, and the metadata service has no newer ones yet",
			role.Expires.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

const group = "client.authentication.k8s.io/"

// versions are those of the answer that the package writes. They do not differ in it.
var versions = []string{group + "v1", group + "v1beta1"}

// Version returns the API version that a client wants for the answer. info is the variable KUBERNETES_EXEC_INFO, which client-go sets;
// empty if a person calls the plug-in.
func Version(info string) (string, error) {
	if info == "" {
		return versions[0], nil
	}
	var asked struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := json.Unmarshal([]byte(info), &asked); err != nil {
		return "", errors.New("KUBERNETES_EXEC_INFO is not JSON, as client-go sets it")
	}
	if !slices.Contains(versions, asked.APIVersion) {
		return "", fmt.Errorf("KUBERNETES_EXEC_INFO asks for apiVersion %q: the kubeconfig must have one of %s", asked.APIVersion, strings.Join(versions, ", "))
	}
	return asked.APIVersion, nil
}

// Answer is what a plug-in prints (Kubernetes: client.authentication.k8s.io, ExecCredential). It is secret.
func Answer(version string, t Token) ([]byte, error) {
	type status struct {
		Until string `json:"expirationTimestamp"`
		Token string `json:"token"`
	}
	return json.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Status     status `json:"status"`
	}{version, "ExecCredential", status{t.Until.UTC().Format(time.RFC3339), t.Value.Reveal()}})
}
