package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// classesArgs name the classes that are judged.
type classesArgs struct {
	// File has specs of classes with their verdicts, as adapters/karpenter's tests have them.
	File string `yaml:"file"`
}

// classes sends each class to the API server, which makes none of them, and wants its verdict to be that of the file. What later names is
// refused by the provider alone.
func (r *caseRun) classes(ctx context.Context, args classesArgs) error {
	data, err := os.ReadFile(filepath.Join(r.Dir, args.File))
	if err != nil {
		return err
	}
	var all []struct {
		About          string
		Spec           object
		Refused, Later bool
	}
	if err := yaml.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("%s: %w", args.File, err)
	}
	const kind = "AKSNodeClass"
	if err := r.eventually(ctx, func() error { return r.Lab.API.Get(ctx, collections[kind], new(object)) }); err != nil {
		return err
	}
	var wrong []error
	for _, v := range all {
		class := object{"apiVersion": "karpenter.azure.com/v1beta1", "kind": kind, "metadata": object{"name": "judged"}, "spec": v.Spec}
		err := r.Lab.API.Create(ctx, collections[kind]+"?dryRun=All&fieldValidation=Strict", class)
		refusal, refused := errors.AsType[*lab.StatusError](err)
		if err != nil && (!refused || refusal.Code != http.StatusBadRequest && refusal.Code != http.StatusUnprocessableEntity) {
			return err
		}
		if want := v.Refused && !v.Later; want != refused {
			wrong = append(wrong, fmt.Errorf("%s: it is refused: %t, want %t (%v)", v.About, refused, want, err))
		}
	}
	return errors.Join(wrong...)
}
