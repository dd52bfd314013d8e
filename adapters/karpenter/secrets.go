package karpenter

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-dev/slipway/launch/bootstraptoken"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// How Kubernetes keeps a bootstrap token (Kubernetes: "Authenticating with bootstrap tokens", secret format).
const (
	tokenNamespace  = metav1.NamespaceSystem
	tokenNamePrefix = "bootstrap-token-"
	tokenIDLength   = 6
	tokenLength     = 16

	keyID             = "token-id"
	keySecret         = "token-secret"
	keyExpiration     = "expiration"
	keyDescription    = "description"
	keyAuthentication = "usage-bootstrap-authentication"
	keyGroups         = "auth-extra-groups"
)

// secrets are the bootstrap tokens of a cluster, as bootstraptoken.Store.
type secrets struct {
	reader client.Reader
	writer client.Client
	clock  *serverClock
}

var _ bootstraptoken.Store = (*secrets)(nil)

// List returns the tokens that the cluster has now.
func (s *secrets) List(ctx context.Context) ([]bootstraptoken.Token, error) {
	var list corev1.SecretList
	ofTokens := client.MatchingFields{"type": string(corev1.SecretTypeBootstrapToken)}
	err := s.reader.List(ctx, &list, client.InNamespace(tokenNamespace), ofTokens)
	if err != nil {
		return nil, err
	}
	tokens := make([]bootstraptoken.Token, 0, len(list.Items))
	for i := range list.Items {
		if secret := &list.Items[i]; secret.Name == tokenNamePrefix+string(secret.Data[keyID]) { // Kubernetes ignores tokens under any other name
			tokens = append(tokens, tokenOf(secret))
		}
	}
	return tokens, nil
}

// tokenOf reads the token in a secret. An unreadable expiration counts as long ago, as in Kubernetes.
func tokenOf(secret *corev1.Secret) bootstraptoken.Token {
	data := func(key string) string { return string(secret.Data[key]) }
	token := bootstraptoken.Token{
		Value:          nodeconfig.NewSecret(data(keyID) + "." + data(keySecret)),
		Authentication: data(keyAuthentication) == "true",
		Description:    data(keyDescription),
	}
	if groups := data(keyGroups); groups != "" {
		token.Groups = strings.Split(groups, ",")
	}
	if text := data(keyExpiration); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			at = time.Unix(0, 0)
		}
		token.Expires = at
	}
	return token
}

// Create makes the wanted token with a random value.
func (s *secrets) Create(ctx context.Context, wanted bootstraptoken.Token) (bootstraptoken.Token, error) {
	id, value := randomText(tokenIDLength), randomText(tokenLength)
	data := map[string]string{
		keyID: id, keySecret: value, keyDescription: wanted.Description,
		keyExpiration: wanted.Expires.UTC().Format(time.RFC3339),
	}
	if wanted.Authentication {
		data[keyAuthentication] = "true"
	}
	if len(wanted.Groups) > 0 {
		data[keyGroups] = strings.Join(wanted.Groups, ",")
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: tokenNamespace, Name: tokenNamePrefix + id},
		Type:       corev1.SecretTypeBootstrapToken, Data: make(map[string][]byte, len(data)),
	}
	for key, text := range data {
		secret.Data[key] = []byte(text)
	}
	sent := secret.DeepCopy() // Create overwrites its argument with the answer
	if err := s.writer.Create(ctx, sent); err != nil {
		return bootstraptoken.Token{}, without(err, value)
	}
	s.clock.created(sent.CreationTimestamp.Time)
	return tokenOf(secret), nil
}

// Delete removes the token with an ID.
func (s *secrets) Delete(ctx context.Context, id string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tokenNamespace, Name: tokenNamePrefix + id}}
	if err := client.IgnoreNotFound(s.writer.Delete(ctx, secret)); err != nil {
		return fmt.Errorf("the bootstrap token %s: %w", id, err)
	}
	return nil
}

// alphabet contains the characters of a token.
const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

// randomText returns an unpredictable text: each character of the alphabet is equally likely.
func randomText(length int) string {
	text := make([]byte, 0, length)
	for drawn := make([]byte, 2*length); len(text) < length; {
		_, _ = rand.Read(drawn) // it never fails (crypto/rand)
		for _, b := range drawn {
			if int(b) < 256/len(alphabet)*len(alphabet) && len(text) < length {
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text)
}
