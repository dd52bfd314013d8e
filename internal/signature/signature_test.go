package signature

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const namespace = "slipway-image"

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func signers(t testing.TB, list string) []Signer {
	t.Helper()
	all, err := ParseSigners([]byte(list))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVerify verifies a signature of OpenSSH 9.2, and no other message, namespace or key.
func TestVerify(t *testing.T) {
	message, sig, list := read(t, "message"), read(t, "message.sig"), string(read(t, "signers"))
	other := "other@example.com ssh-ed25519 " + base64.StdEncoding.EncodeToString(append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), make([]byte, 32)...))
	limited := strings.Replace(list, "images@example.com ", `images@example.com namespaces="slipway-release,file" `, 1)
	for name, c := range map[string]struct {
		message   []byte
		namespace string
		list      string
		want      string
	}{
		"right":             {message, namespace, "# ours\n\n" + other + "\n" + list, ""},
		"for the namespace": {message, namespace, strings.Replace(limited, "file", namespace, 1), ""},
		"another message":   {append(bytes.Clone(message), '\n'), namespace, list, "not one of these bytes"},
		"another namespace": {message, "slipway-release", list, `the signature is for the namespace "slipway-image", not "slipway-release"`},
		"a key of others":   {message, namespace, other, "its key is not in the list"},
		"not for this":      {message, namespace, limited, `may not sign for "slipway-image"`},
	} {
		who, err := Verify(c.message, sig, c.namespace, signers(t, c.list))
		if c.want == "" && (err != nil || who != "images@example.com") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v, want %q", name, who, err, c.want)
		}
	}
}

// TestEachByte changes each byte of a signature in turn, and wants no right one.
func TestEachByte(t *testing.T) {
	message, sig, all := read(t, "message"), read(t, "message.sig"), signers(t, string(read(t, "signers")))
	body := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(sig)), begin), end)
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1
		for _, d := range [][]byte{damaged, data[:i], append(bytes.Clone(data), data[i])} {
			if _, err := Verify(message, []byte(begin+"\n"+base64.StdEncoding.EncodeToString(d)+"\n"+end), namespace, all); err == nil {
				t.Errorf("a signature that is damaged at byte %d is right", i)
			}
		}
	}
}

// TestBadLists demands an error for each list that ssh-keygen refuses or reads differently.
func TestBadLists(t *testing.T) {
	key := strings.Fields(string(read(t, "signers")))[2]
	for name, list := range map[string]string{
		"empty":           "# nothing\n",
		"without a name":  "ssh-ed25519 " + key,
		"another kind":    "a ssh-rsa " + key,
		"a damaged key":   "a ssh-ed25519 " + key[:20],
		"no base64":       "a ssh-ed25519 !" + key,
		"an option":       "a cert-authority ssh-ed25519 " + key,
		"a time":          `a valid-before="20270101" ssh-ed25519 ` + key,
		"an open quote":   `a namespaces="x ssh-ed25519 ` + key,
		"far too long":    strings.Repeat("#", MaxBytes+1),
		"a key with more": "a ssh-ed25519 " + base64.StdEncoding.EncodeToString(append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), make([]byte, 33)...)),
	} {
		if _, err := ParseSigners([]byte(list)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLikeSSHKeygen compares with ssh-keygen -Y verify, for signatures that ssh-keygen makes with new keys.
func TestLikeSSHKeygen(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is missing")
	}
	dir := t.TempDir()
	run := func(stdin string, args ...string) error {
		cmd := exec.Command("ssh-keygen", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		return cmd.Run()
	}
	for _, hash := range []string{"sha512", "sha256"} {
		_ = os.Remove(filepath.Join(dir, "key"))
		message := strings.Repeat("message ", 20_000) + hash
		if err := os.WriteFile(filepath.Join(dir, "m"), []byte(message), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(dir, "m.sig"))
		for _, args := range [][]string{{"-q", "-t", "ed25519", "-N", "", "-f", "key"}, {"-Y", "sign", "-O", "hashalg=" + hash, "-n", namespace, "-f", "key", "m"}} {
			if err := run("", args...); err != nil {
				t.Fatalf("%q: %v", args, err)
			}
		}
		public, err := os.ReadFile(filepath.Join(dir, "key.pub"))
		if err != nil {
			t.Fatal(err)
		}
		list := "me@example.com " + string(public)
		if err := os.WriteFile(filepath.Join(dir, "signers"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		sig, err := os.ReadFile(filepath.Join(dir, "m.sig"))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{message, message + "."} {
			_, ours := Verify([]byte(text), sig, namespace, signers(t, list))
			theirs := run(text, "-Y", "verify", "-f", "signers", "-I", "me@example.com", "-n", namespace, "-s", "m.sig")
			if (ours == nil) != (theirs == nil) || (ours == nil) != (text == message) {
				t.Errorf("%s: %v, and ssh-keygen: %v", hash, ours, theirs)
			}
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(read(f, "message.sig"), read(f, "signers"))
	f.Add([]byte(begin+"\nU1NIU0lH\n"+end), []byte("a ssh-ed25519 AAAA"))
	message := read(f, "message")
	f.Fuzz(func(t *testing.T, sig, list []byte) {
		all, err := ParseSigners(list)
		if err != nil {
			return
		}
		if _, err := Verify(append(message, 'x'), sig, namespace, all); err == nil {
			t.Error("a signature of another message is right")
		}
	})
}
