package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/api/aksnodeconfig/protos"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const contractDir = "../v1"

// TestEverythingIsCommented checks that each message, field, enum and enum value has a comment. The generated descriptors have no
// comments, so this reads the sources.
func TestEverythingIsCommented(t *testing.T) {
	files, err := protos.Compile(context.Background(), contractDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		locations := file.SourceLocations()
		check := func(d protoreflect.Descriptor) {
			if strings.TrimSpace(locations.ByDescriptor(d).LeadingComments) == "" {
				t.Errorf("%s: %s has no comment", file.Path(), d.FullName())
			}
		}
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			check(message)
			for j := range message.Fields().Len() {
				check(message.Fields().Get(j))
			}
		}
		for i := range file.Enums().Len() {
			enum := file.Enums().Get(i)
			check(enum)
			for j := range enum.Values().Len() {
				check(enum.Values().Get(j))
			}
		}
	}
}

func TestCompileReportsEveryProblem(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{
			name: "nothing to compile",
			want: []string{"no .proto files"},
		},
		{
			name: "syntax errors in two files",
			files: map[string]string{
				"a.proto": "syntax = \"proto3\";\nmessage A { string }\n",
				"b.proto": "syntax = \"proto3\";\nmessage B { int32 }\n",
			},
			want: []string{"aksnodeconfig/v1/a.proto:2:", "aksnodeconfig/v1/b.proto:2:"},
		},
		{
			name: "unused import",
			files: map[string]string{
				"a.proto": "syntax = \"proto3\";\nimport \"aksnodeconfig/v1/b.proto\";\n",
				"b.proto": "syntax = \"proto3\";\n",
			},
			want: []string{"aksnodeconfig/v1/b.proto", "not used"},
		},
		{
			name: "import from elsewhere",
			files: map[string]string{
				"a.proto": "syntax = \"proto3\";\nimport \"other/b.proto\";\n",
			},
			want: []string{"aksnodeconfig/v1/a.proto:2:", "other/b.proto"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := protos.Compile(context.Background(), dir)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error does not contain %q:\n%v", want, err)
				}
			}
		})
	}
}

// TestListing lists files like those in AKS's own repository: with imports, some of which are unused, and other comments.
func TestListing(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"z.proto": `syntax = "proto3";
			package aksnodeconfig.v1;
			import "aksnodeconfig/v1/unused.proto";
			enum Kind { KIND_UNSPECIFIED = 0; KIND_B = 1; }
			message Z {
				reserved 5 to 6;
				reserved "old";
				map<string, A> by_name = 4;
				optional int32 count = 3 [json_name = "COUNT"];
				oneof choice { string text = 2; Kind kind = 1; }
			}
			message A { repeated string names = 1; }`,
		"unused.proto": `syntax = "proto3"; package aksnodeconfig.v1;`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got bytes.Buffer
	if err := list(t.Context(), dir, &got); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"of number name json type presence",
		"A 1 names names repeated string implicit",
		"Kind 0 KIND_UNSPECIFIED - value -",
		"Kind 1 KIND_B - value -",
		"Z 1 kind kind enum Kind oneof choice",
		"Z 2 text text string oneof choice",
		"Z 3 count COUNT int32 optional",
		"Z 4 by_name byName map<string,A> implicit",
		"Z 5 - - reserved -",
		"Z 6 - - reserved -",
		"Z - old - reserved -",
		"",
	}, "\n")
	if got := strings.ReplaceAll(got.String(), "\t", " "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRequestOrdersImportsFirst checks the plugin's only requirement for a request, also for imports that come with the compiler
// and get no code.
func TestRequestOrdersImportsFirst(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.proto": "syntax = \"proto3\";\nimport \"aksnodeconfig/v1/b.proto\";\nmessage A { B b = 1; }\n",
		"b.proto": "syntax = \"proto3\";\nimport \"google/protobuf/duration.proto\";\n" +
			"message B { google.protobuf.Duration d = 1; }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := protos.Compile(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	req := request(files)
	var got []string
	for _, f := range req.GetProtoFile() {
		got = append(got, f.GetName())
	}
	want := []string{"google/protobuf/duration.proto", "aksnodeconfig/v1/b.proto", "aksnodeconfig/v1/a.proto"}
	if !slices.Equal(got, want) {
		t.Errorf("files: got %q, want %q", got, want)
	}
	if got, want := req.GetFileToGenerate(), []string{want[2], want[1]}; !slices.Equal(got, want) {
		t.Errorf("files to generate: got %q, want %q", got, want)
	}
}

// TestPlainStructs: a construct without a rule is refused by name.
func TestPlainStructs(t *testing.T) {
	for body, want := range map[string]string{
		"message A { string b = 1; }":                                "",
		"message A { uint64 b = 1; }":                                "A.b: no rule for a field of kind uint64",
		"message A { map<int32, string> b = 1; }":                    "A.b: no rule for a map of such keys",
		"message A { map<string, bytes> b = 1; }":                    "no rule for a field of kind bytes",
		"enum A { A_0 = 0; A_2 = 2; }":                               "A_2 is 2, want 1",
		"enum A { option allow_alias = true; A_0 = 0; A_00 = 0; }":   "A_00 is 0, want 1",
		"message A { optional int32 b = 1; repeated double c = 2; }": "",
	} {
		dir := t.TempDir()
		head := "syntax = \"proto3\";\noption go_package = \"example.com/a;a\";\n"
		if err := os.WriteFile(filepath.Join(dir, "a.proto"), []byte(head+body+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		files, err := protos.Compile(context.Background(), dir)
		if err != nil {
			t.Fatal(err)
		}
		made, err := plainStructs(request(files))
		switch {
		case want == "" && (err != nil || len(made["a.gen.go"]) == 0):
			t.Errorf("%s: %v, %d files", body, err, len(made))
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %s", body, err, want)
		}
	}
}

// TestCheckAndUpdate makes files missing, stale and superfluous: compare names each, update repairs all, and does not rewrite
// correct files.
func TestCheckAndUpdate(t *testing.T) {
	dir := t.TempDir()
	want := map[string][]byte{"good.pb.go": []byte("1"), "missing.pb.go": []byte("2"), "stale.pb.go": []byte("3")}
	for name, content := range map[string]string{
		"good.pb.go": "1", "stale.pb.go": "old", "left.pb.go": "4", "doc.go": "by hand",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "stale.pb.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	have, err := readGenerated(dir, protobufSuffix)
	if err != nil {
		t.Fatal(err)
	}

	err = compare(dir, have, want)
	if err == nil {
		t.Fatal("compare found nothing")
	}
	var got []string
	for _, line := range strings.Split(err.Error(), "\n") {
		got = append(got, strings.TrimPrefix(line, dir+string(filepath.Separator)))
	}
	wantLines := []string{
		"missing.pb.go is missing", "stale.pb.go is stale", "left.pb.go is left over",
		"run go generate ./api/aksnodeconfig/v1",
	}
	if !slices.Equal(got, wantLines) {
		t.Errorf("compare: got %q, want %q", got, wantLines)
	}

	before, err := os.Stat(filepath.Join(dir, "good.pb.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := update(dir, have, want); err != nil {
		t.Fatal(err)
	}
	if have, err = readGenerated(dir, protobufSuffix); err != nil {
		t.Fatal(err)
	}
	if err := compare(dir, have, want); err != nil {
		t.Errorf("after update: %v", err)
	}
	after, err := os.Stat(filepath.Join(dir, "good.pb.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !before.ModTime().Equal(after.ModTime()) {
		t.Error("update rewrote a file that was right")
	}
	if _, err := os.Stat(filepath.Join(dir, "doc.go")); err != nil {
		t.Errorf("update touched a hand-written file: %v", err)
	}
}
