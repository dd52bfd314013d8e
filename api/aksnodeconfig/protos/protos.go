// Package protos compiles the .proto files of AKS's contract. It only needs Go.
//
// It reads a directory and writes nothing. It also lists the declarations in the files, to compare two contracts. The generators of
// the contract's Go types and of its JSON Schema call it; no delivered program does.
package protos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/reporter"
)

// importPrefix is the path of the .proto files in their imports of each other. It becomes part of their descriptors, so it must not
// depend on the files' path on disk.
const importPrefix = "aksnodeconfig/v1"

// Compile links all .proto files in dir, with their comments, and returns them ordered by name. Every problem, including a warning,
// is an error, and all of them are returned at once.
func Compile(ctx context.Context, dir string) (linker.Files, error) {
	files, warnings, err := compile(ctx, dir)
	if err = errors.Join(append(warnings, err)...); err != nil {
		return nil, err
	}
	return files, nil
}

// Read links .proto files like Compile, and accepts compiler warnings, because the files are another project's.
func Read(ctx context.Context, dir string) (linker.Files, error) {
	files, _, err := compile(ctx, dir)
	return files, err
}

func compile(ctx context.Context, dir string) (files linker.Files, warnings []error, err error) {
	found, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, nil, fmt.Errorf("list .proto files: %w", err)
	}
	if len(found) == 0 {
		return nil, nil, errors.New("no .proto files")
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = path.Join(importPrefix, filepath.Base(f))
	}
	slices.Sort(names)

	var problems []error
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			Accessor: func(name string) (io.ReadCloser, error) {
				base, ok := strings.CutPrefix(name, importPrefix+"/")
				if !ok || strings.Contains(base, "/") {
					return nil, fs.ErrNotExist
				}
				return os.Open(filepath.Join(dir, base))
			},
		}),
		Reporter: reporter.NewReporter(
			func(err reporter.ErrorWithPos) error { problems = append(problems, err); return nil },
			func(err reporter.ErrorWithPos) { warnings = append(warnings, err) },
		),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err = compiler.Compile(ctx, names...)
	if len(problems) > 0 {
		return nil, warnings, errors.Join(problems...)
	}
	return files, warnings, err
}
