package scenario

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// secrets is the API path of bootstrap tokens.
const secrets = "/api/v1/namespaces/kube-system/secrets"

// tokenType is the type of their secrets.
const tokenType = "bootstrap.kubernetes.io/token"

// tokenArgs are the required number of Karpenter's tokens.
type tokenArgs struct {
	// Minted is the number of tokens, without those that the case has expired.
	Minted int `yaml:"minted"`
}

// token is a secret with a bootstrap token.
type token struct {
	Type     string
	Metadata struct{ Name string }
}

// minted are the tokens that Karpenter has made, without those that the case has expired.
func (r *caseRun) minted(ctx context.Context) ([]token, error) {
	var list struct{ Items []token }
	if err := r.Lab.API.Get(ctx, secrets, &list); err != nil {
		return nil, err
	}
	own, _, _ := strings.Cut(r.Lab.Token, ".")
	var found []token
	for _, t := range list.Items {
		if t.Type == tokenType && t.Metadata.Name != "bootstrap-token-"+own && !slices.Contains(r.provisioner.expired, t.Metadata.Name) {
			found = append(found, t)
		}
	}
	return found, nil
}

// checkTokens waits until the number of tokens is right.
func (r *caseRun) checkTokens(ctx context.Context, want tokenArgs) error {
	return r.eventually(ctx, func() error {
		found, err := r.minted(ctx)
		if err == nil && len(found) != want.Minted {
			err = fmt.Errorf("there are %d minted tokens, want %d", len(found), want.Minted)
		}
		return err
	})
}

// expire makes all these tokens expire now.
func (r *caseRun) expire(ctx context.Context, _ struct{}) error {
	found, err := r.minted(ctx)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("no token is there that could expire")
	}
	past := base64.StdEncoding.EncodeToString([]byte(time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)))
	for _, t := range found {
		change := map[string]any{"data": map[string]any{"expiration": past}}
		if err := r.Lab.API.Merge(ctx, secrets+"/"+t.Metadata.Name, change); err != nil {
			return err
		}
		r.provisioner.expired = append(r.provisioner.expired, t.Metadata.Name)
	}
	return nil
}

// mintingArgs are whether tokens may be made.
type mintingArgs struct {
	Allowed bool `yaml:"allowed"`
}

// The API paths of the rule against tokens and of the binding that puts it in force.
const (
	policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
)

// noTokens is the name of both.
const noTokens = "no-tokens"

// minting forbids all users to make bootstrap tokens, or allows it again.
func (r *caseRun) minting(ctx context.Context, args mintingArgs) error {
	if args.Allowed {
		var errs []error
		for _, collection := range []string{bindings, policies} {
			if err := r.Lab.API.Delete(ctx, collection+"/"+noTokens); err != nil && !strings.Contains(err.Error(), "404") {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
	err := r.Lab.API.Create(ctx, policies, map[string]any{
		"metadata": map[string]any{"name": noTokens},
		"spec": map[string]any{
			"failurePolicy": "Fail",
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE"}, "resources": []string{"secrets"},
			}}},
			"validations": []any{map[string]any{"expression": "object.type != '" + tokenType + "'", "message": "nobody may make bootstrap tokens"}},
		},
	})
	if err != nil {
		return err
	}
	err = r.Lab.API.Create(ctx, bindings, map[string]any{
		"metadata": map[string]any{"name": noTokens},
		"spec":     map[string]any{"policyName": noTokens, "validationActions": []string{"Deny"}},
	})
	if err != nil {
		return err
	}
	// A rule is in force a moment after its creation.
	return r.eventually(ctx, func() error {
		err := r.Lab.API.Create(ctx, secrets+"?dryRun=All", map[string]any{"metadata": map[string]any{"name": "bootstrap-token-abcdef"}, "type": tokenType})
		if err == nil || !strings.Contains(err.Error(), "nobody may make bootstrap tokens") {
			return fmt.Errorf("tokens can still be made: %w", err)
		}
		return nil
	})
}
