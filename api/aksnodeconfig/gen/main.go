// Command gen writes the Go code of the AKS node contract from its .proto files. It only needs the Go toolchain: no protoc, no buf,
// nothing installed beforehand.
//
// It compiles every .proto file in a directory with protocompile, with source positions so that comments reach the Go code. It
// passes the result to the protoc-gen-go that go.mod pins as a tool, and writes the output beside the .proto files. From the same
// descriptors it writes plain structs, without protobuf, into a second directory: the node decodes a contract into those. It
// removes a generated file that belongs to no .proto file. Compiler warnings are errors.
//
//	go run ./api/aksnodeconfig/gen [-dir DIR] [-plain DIR] [-check]
//	go run ./api/aksnodeconfig/gen -listing DIR
//
// With -check it writes nothing; it fails and names every missing, stale or superfluous file. With -listing it generates nothing:
// it prints the declarations in the .proto files of a directory, such as those of AKS's own repository. A test compares the
// contract here with that listing, which is in v1/testdata. It must run inside the module, so that "go tool" finds the pinned
// plugin. go generate calls it, from package api/aksnodeconfig/v1, and so do that package's tests.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/slipway-dev/slipway/api/aksnodeconfig/protos"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

// The suffixes of the generated files.
const (
	protobufSuffix = ".pb.go"  // what protoc-gen-go writes
	plainSuffix    = ".gen.go" // the plain structs
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	dir := flag.String("dir", ".", "directory of the .proto files, and of the protobuf code")
	plain := flag.String("plain", filepath.Join("..", "..", "..", "internal", "aksnodeconfig"), "directory of the plain structs")
	listing := flag.String("listing", "", "directory of .proto files of which a listing is printed")
	check := flag.Bool("check", false, "write nothing, fail if the code is not up to date")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	if *listing != "" {
		if err := list(context.Background(), *listing, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(context.Background(), *dir, *plain, *check); err != nil {
		log.Fatal(err)
	}
}

// list writes the declarations in the .proto files of a directory.
func list(ctx context.Context, dir string, w io.Writer) error {
	files, err := protos.Read(ctx, dir)
	if err != nil {
		return fmt.Errorf("read %s: %w", dir, err)
	}
	all := make([]protoreflect.FileDescriptor, len(files))
	for i, file := range files {
		all[i] = file
	}
	_, err = w.Write(protos.Listing(all))
	return err
}

// run updates the generated code or, if check is set, reports how it differs.
func run(ctx context.Context, dir, plainDir string, check bool) error {
	files, err := protos.Compile(ctx, dir)
	if err != nil {
		return fmt.Errorf("compile %s: %w", dir, err)
	}
	req := request(files)
	protobuf, err := generate(ctx, req)
	if err != nil {
		return fmt.Errorf("generate code: %w", err)
	}
	plain, err := plainStructs(req)
	if err != nil {
		return fmt.Errorf("generate plain structs: %w", err)
	}
	return errors.Join(settle(dir, protobufSuffix, protobuf, check), settle(plainDir, plainSuffix, plain, check))
}

// settle makes the generated files of a directory equal to the wanted ones or, if check is set, reports how they differ.
func settle(dir, suffix string, want map[string][]byte, check bool) error {
	have, err := readGenerated(dir, suffix)
	if err != nil {
		return fmt.Errorf("read generated code: %w", err)
	}
	if check {
		return compare(dir, have, want)
	}
	return update(dir, have, want)
}

// request is protoc's request to a plugin to generate code for files. The plugin requires each file after the files that it
// imports.
func request(files linker.Files) *pluginpb.CodeGeneratorRequest {
	req := &pluginpb.CodeGeneratorRequest{Parameter: proto.String("paths=source_relative")}
	seen := make(map[string]bool)
	var add func(protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		imports := file.Imports()
		for i := range imports.Len() {
			add(imports.Get(i).FileDescriptor)
		}
		req.ProtoFile = append(req.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
	}
	for _, file := range files {
		add(file)
		req.FileToGenerate = append(req.FileToGenerate, file.Path())
	}
	return req
}

// generate runs protoc-gen-go on req and returns the files it made, by base name.
func generate(ctx context.Context, req *pluginpb.CodeGeneratorRequest) (map[string][]byte, error) {
	in, err := proto.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("encode plugin request: %w", err)
	}
	var out, diagnostics bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "tool", "protoc-gen-go")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &diagnostics
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run go tool protoc-gen-go: %w: %s", err, bytes.TrimSpace(diagnostics.Bytes()))
	}
	resp := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(out.Bytes(), resp); err != nil {
		return nil, fmt.Errorf("decode plugin response: %w", err)
	}
	if resp.Error != nil {
		return nil, fmt.Errorf("protoc-gen-go: %s", resp.GetError())
	}
	made := make(map[string][]byte)
	for _, f := range resp.GetFile() {
		made[path.Base(f.GetName())] = []byte(f.GetContent())
	}
	return made, nil
}

// readGenerated reads the present generated files in dir, by base name.
func readGenerated(dir, suffix string) (map[string][]byte, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	have := make(map[string][]byte)
	for _, f := range found {
		if have[filepath.Base(f)], err = os.ReadFile(f); err != nil {
			return nil, err
		}
	}
	return have, nil
}

// compare returns one joined error for each file of dir that differs.
func compare(dir string, have, want map[string][]byte) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, ok := have[name]
		switch {
		case !ok:
			problems = append(problems, fmt.Errorf("%s is missing", filepath.Join(dir, name)))
		case !bytes.Equal(got, want[name]):
			problems = append(problems, fmt.Errorf("%s is stale", filepath.Join(dir, name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[name]; !ok {
			problems = append(problems, fmt.Errorf("%s is left over", filepath.Join(dir, name)))
		}
	}
	if len(problems) > 0 {
		problems = append(problems, errors.New("run go generate ./api/aksnodeconfig/v1"))
	}
	return errors.Join(problems...)
}

// update writes the files that differ and removes those that are not wanted.
func update(dir string, have, want map[string][]byte) error {
	for name, content := range want {
		if got, ok := have[name]; ok && bytes.Equal(got, content) {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("write generated code: %w", err)
		}
	}
	for name := range have {
		if _, ok := want[name]; ok {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove left-over code: %w", err)
		}
	}
	return nil
}
