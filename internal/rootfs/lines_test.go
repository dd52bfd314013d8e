package rootfs

import (
	"os"
	"strings"
	"testing"
)

// Each step changes the file as another process can, and the next call returns the lines that the reader lacks.
func TestReadLinesOnce(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, path string)
		want   string
		first  bool
	}{
		{"unchanged", func(*testing.T, string) {}, "", false},
		{"a line appended", appendTo("three\n"), "three\n", false},
		{"two lines appended", appendTo("three\nfour\n"), "three\nfour\n", false},
		{"the same line appended", appendTo("two\n"), "two\n", false},
		{"a line without its end", appendTo("three\nfou"), "three\n", false},
		{"removed", func(t *testing.T, path string) { must(t, os.Remove(path)) }, "", true},
		{"emptied", overwrite(""), "", true},
		{"shorter", overwrite("one\n"), "one\n", true},
		{"another last line of the same length", overwrite("one\nsix\n"), "one\nsix\n", true},
		{"more and other lines", overwrite("1\n2\n3\n4\n5\n6\n"), "1\n2\n3\n4\n5\n6\n", true},
		{"a last line that lost its end", overwrite("one\ntwo"), "one\n", true},
		{"replaced by an equal file", func(t *testing.T, path string) {
			must(t, os.WriteFile(path+".new", []byte("one\ntwo\n"), 0o600))
			must(t, os.Rename(path+".new", path))
		}, "one\ntwo\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree, on := newTree(t)
			path := on("/log")
			overwrite("one\ntwo\n")(t, path)
			var read Lines
			wantLines(t, tree, &read, "one\ntwo\n", true)
			test.change(t, path)
			wantLines(t, tree, &read, test.want, test.first)

			// The next line is found from the reader's present position.
			rest, err := os.ReadFile(path)
			if err != nil {
				rest = nil
			}
			torn := string(rest[strings.LastIndexByte(string(rest), '\n')+1:])
			appendTo("last\n")(t, path)
			got, _, err := tree.ReadLines("/log", 100, &read)
			if string(got) != torn+"last\n" || err != nil {
				t.Errorf("the next line: %q, %v", got, err)
			}
		})
	}
}

// If only an earlier line has changed, only the time of the change shows it.
func TestReadLinesAfterAnEarlierLineChanged(t *testing.T) {
	tree, on := newTree(t)
	path := on("/log")
	overwrite("one\ntwo\n")(t, path)
	var read Lines
	wantLines(t, tree, &read, "one\ntwo\n", true)
	read.stat.Ctim.Sec-- // some ticks of the kernel's clock ago
	overwrite("1st\ntwo\n")(t, path)
	wantLines(t, tree, &read, "1st\ntwo\n", true)
}

func TestReadLinesRefuses(t *testing.T) {
	tree, on := newTree(t)
	path := on("/log")
	var read Lines
	overwrite("one\n")(t, path)
	wantLines(t, tree, &read, "one\n", true)
	appendTo(strings.Repeat("x", 100))(t, path)
	_, _, err := tree.ReadLines("/log", 100, &read)
	wantError(t, err, "read /log: is larger than the limit of 100 bytes")
	must(t, os.Truncate(path, 4))
	appendTo("two\n")(t, path)
	wantLines(t, tree, &read, "two\n", false)

	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o755))
	_, _, err = tree.ReadLines("/log", 100, &read)
	wantError(t, err, "read /log: is a directory, not a regular file")
}

func wantLines(t *testing.T, tree *Tree, read *Lines, want string, first bool) {
	t.Helper()
	got, begins, err := tree.ReadLines("/log", 100, read)
	if err != nil || string(got) != want || begins != first {
		t.Errorf("got %q, first %t, %v; want %q, first %t", got, begins, err, want, first)
	}
}

func overwrite(content string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte(content), 0o600)) }
}

func appendTo(content string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		must(t, err)
		_, err = file.WriteString(content)
		must(t, err)
		must(t, file.Close())
	}
}
